/**
 * A response body that is written once and sent any number of times. A small one stays in memory; a large one goes to a
 * temporary file, so that slow clients do not hold memory.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open as openFile, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode, unavailable } from '../errors.ts';
import { createQuota, type Quota } from '../sharing/quota.ts';

export interface Spooled {
  /** SHA-256 of the bytes, as base64url. */
  readonly hash: string;
  /** In bytes. */
  readonly length: number;
  /** True if it needs no file, and may therefore be cached. */
  readonly isInMemory: boolean;
  /** Returns the bytes for one response. Throws an error when the file is closed, because its last reader is done: call it at once. */
  open(): Buffer | Readable;
}

/** Bytes per read from a file. */
const pieceLength = 131_072;

/** The most bytes of a body that stays in memory. */
const maxInMemory = 8 * 1_048_576;

/** The most bytes in files. Slow clients keep files on the disk, which others need too. */
const diskQuota = createQuota({ total: 4 * 1_073_741_824, share: 1_073_741_824 });

interface Room {
  readonly quota?: Quota;
  /** The most bytes that stay in memory: few, unless one body serves many requests. */
  readonly memory?: number;
}

/** Writes the texts on behalf of a workspace. Throws a ServiceError 503 if there is no room for a file. */
export async function spool(
  texts: AsyncIterable<string> | Iterable<string>,
  workspaceId: string,
  { quota = diskQuota, memory = maxInMemory }: Room = {},
): Promise<Spooled> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let length = 0;
  let file: TemporaryFile | undefined;
  try {
    for await (const text of texts) {
      const chunk = Buffer.from(text);
      hash.update(chunk);
      length += chunk.length;
      chunks.push(chunk);
      if (length <= memory) continue;
      file ??= await openTemporaryFile(workspaceId, quota);
      for (const part of chunks.splice(0)) await file.write(part);
    }
  } catch (error) {
    file?.close();
    throw error;
  }
  const summary = { hash: hash.digest('base64url'), length };
  if (file) return { ...summary, isInMemory: false, open: readers(file) };
  const content = Buffer.concat(chunks);
  return { ...summary, isInMemory: true, open: () => content };
}

interface TemporaryFile {
  write(bytes: Buffer): Promise<void>;
  read(buffer: Buffer, position: number): Promise<number>;
  close(): void;
}

/** Opens a file that no other user can open, and that disappears with the process, however the process ends. */
async function openTemporaryFile(workspaceId: string, quota: Quota): Promise<TemporaryFile> {
  const path = join(tmpdir(), `yardgraph-${randomUUID()}`);
  let file: FileHandle;
  try {
    file = await openFile(path, 'wx+', 0o600);
    await unlink(path);
  } catch (error) {
    throw noRoom(errorCode(error) || 'unknown');
  }

  let length = 0;
  return {
    async write(bytes) {
      if (quota.take(workspaceId, bytes.length)) throw noRoom('TEMPORARY_FILES_FULL');
      length += bytes.length;
      await file.writeFile(bytes).catch((error: unknown) => {
        throw noRoom(errorCode(error) || 'unknown');
      });
    },
    read: async (buffer, position) => (await file.read(buffer, 0, buffer.length, position)).bytesRead,
    close() {
      quota.free(workspaceId, length);
      // The file is unlinked: an error while closing loses nothing.
      file.close().catch(() => {});
    },
  };
}

const noRoom = (cause: string) => unavailable('there is no room for a list of this size, try again', cause);

/** Returns a function that opens streams over the whole file, which is closed after the last of them. */
function readers(file: TemporaryFile): () => Readable {
  let openStreams = 0;
  let isClosed = false;
  return () => {
    if (isClosed) throw new Error('the file of this body is closed');
    openStreams += 1;
    // Node's own stream over a descriptor would close it while others still read.
    const stream = Readable.from(pieces(file), { objectMode: false });
    stream.once('close', () => {
      openStreams -= 1;
      isClosed = openStreams === 0;
      if (isClosed) file.close();
    });
    return stream;
  };
}

async function* pieces(file: TemporaryFile): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(pieceLength);
    const bytesRead = await file.read(buffer, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
