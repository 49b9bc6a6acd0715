/** The descriptors of the temporary files that this process has open; none where the system does not list them. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';

const descriptors = '/proc/self/fd';

const canListFiles = existsSync(descriptors);

export const openTemporaryFiles = (): string[] =>
  (canListFiles ? readdirSync(descriptors) : []).filter((descriptor) => {
    try {
      return /\/yardgraph-[-0-9a-f]{36} \(deleted\)$/.test(readlinkSync(`${descriptors}/${descriptor}`));
    } catch {
      return false;
    }
  });
