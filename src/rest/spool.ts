/**
 * A body that is written once and sent any number of times: few bytes stay in memory, many go to a temporary file, so that
 * clients may take as long as they like to read them.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { unavailable } from '../errors.ts';

export interface Spooled {
  /** SHA-256 of the bytes, as base64url. */
  readonly hash: string;
  /** Bytes. */
  readonly length: number;
  /** Whether it takes no file, and may be kept for as long as anybody likes. */
  readonly isInMemory: boolean;
  /** The bytes, for one response. To be called as soon as the spool is there: a file is closed when its last reader is done. */
  open(): Buffer | Readable;
}

/** Bytes that are read from a file at once. */
const pieceLength = 131_072;

/** Bytes. */
const maxInMemory = 8 * 1_048_576;

/**
 * Bytes in files, of all owners and of one of them: as long as clients read slowly, files stay. The rest of the disk is for
 * others.
 */
const defaultRoom = { inAll: 4 * 1_073_741_824, ofOwner: 1_073_741_824 };

let inFiles = 0;
const inFilesOf = new Map<string, number>();

/** Writes the texts for an owner, a workspace. Throws a ServiceError 503 where there is no room for a file. */
export async function spool(texts: AsyncIterable<string>, owner: string, room = defaultRoom): Promise<Spooled> {
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
      if (length <= maxInMemory) continue;
      file ??= await openTemporaryFile(owner, room);
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

/** A file that nobody else can open, and that is gone when the process is, however it ends. */
async function openTemporaryFile(owner: string, room: typeof defaultRoom): Promise<TemporaryFile> {
  const path = join(tmpdir(), `yardgraph-${randomUUID()}`);
  let file: FileHandle;
  try {
    file = await open(path, 'wx+', 0o600);
    await unlink(path);
  } catch (error) {
    throw noRoom(error);
  }

  let length = 0;
  const count = (bytes: number): void => {
    length += bytes;
    inFiles += bytes;
    const ofOwner = (inFilesOf.get(owner) ?? 0) + bytes;
    if (ofOwner > 0) inFilesOf.set(owner, ofOwner);
    else inFilesOf.delete(owner);
  };
  return {
    async write(bytes) {
      count(bytes.length);
      const isFull = inFiles > room.inAll || (inFilesOf.get(owner) ?? 0) > room.ofOwner;
      if (isFull) throw noRoom(new Error('others read the lists that fill it'));
      await file.writeFile(bytes).catch((error: unknown) => {
        throw noRoom(error);
      });
    },
    read: async (buffer, position) => (await file.read(buffer, 0, buffer.length, position)).bytesRead,
    close() {
      count(-length);
      // It is deleted: nobody needs what could not be written.
      file.close().catch(() => {});
    },
  };
}

const noRoom = (error: unknown) =>
  unavailable(
    'there is no room for a list of this size, try again',
    error instanceof Error && 'code' in error ? String(error.code) : 'unknown',
  );

/** Streams over the whole file, which is closed after the last of them. */
function readers(file: TemporaryFile): () => Readable {
  let open = 0;
  return () => {
    open += 1;
    // Node's own stream over a descriptor would close it, under the others.
    const stream = Readable.from(pieces(file), { objectMode: false });
    stream.once('close', () => {
      open -= 1;
      if (open === 0) file.close();
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
