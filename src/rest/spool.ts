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
  /** The bytes, for one response. To be called as soon as the spool is there: a file goes when its last reader is done. */
  open(): Buffer | Readable;
}

/** Bytes that are read from a file at once. */
const pieceLength = 131_072;

/** Bytes. */
const maxInMemory = 8 * 1_048_576;

/** Throws a ServiceError 503 where there is no room for a file. */
export async function spool(texts: AsyncIterable<string>): Promise<Spooled> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let length = 0;
  let file: FileHandle | undefined;
  try {
    for await (const text of texts) {
      const chunk = Buffer.from(text);
      hash.update(chunk);
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxInMemory) continue;
      file ??= await openTemporaryFile();
      await writeAll(file, chunks.splice(0));
    }
  } catch (error) {
    await file?.close();
    throw error;
  }
  const summary = { hash: hash.digest('base64url'), length };
  if (file) return { ...summary, isInMemory: false, open: readers(file) };
  const content = Buffer.concat(chunks);
  return { ...summary, isInMemory: true, open: () => content };
}

/** A file that nobody else can open, and that is gone when the process is, however it ends. */
async function openTemporaryFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `yardgraph-${randomUUID()}`);
  try {
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return file;
  } catch (error) {
    throw noRoom(error);
  }
}

async function writeAll(file: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  try {
    for (const chunk of chunks) await file.writeFile(chunk);
  } catch (error) {
    throw noRoom(error);
  }
}

const noRoom = (error: unknown) =>
  unavailable(
    'there is no room for a list of this size, try again',
    error instanceof Error && 'code' in error ? String(error.code) : 'unknown',
  );

/** Streams over the whole file, which is closed after the last of them. */
function readers(file: FileHandle): () => Readable {
  let open = 0;
  return () => {
    open += 1;
    // Node's own stream over a descriptor would close it, under the others.
    const stream = Readable.from(pieces(file), { objectMode: false });
    stream.once('close', () => {
      open -= 1;
      if (open === 0) void file.close();
    });
    return stream;
  };
}

async function* pieces(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceLength), 0, pieceLength, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
