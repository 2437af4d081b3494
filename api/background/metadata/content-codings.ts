import { promisify } from "node:util";
import * as zlib from "node:zlib";

type Undo = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

const gunzip: Undo = promisify(zlib.gunzip);
const inflate: Undo = promisify(zlib.inflate);
const inflateRaw: Undo = promisify(zlib.inflateRaw);
const brotli: Undo = promisify(zlib.brotliDecompress);
/** From Node 22.15 on. */
const { zstdDecompress } = zlib as unknown as { zstdDecompress?: typeof zlib.brotliDecompress };

/** With the zlib header that the standard asks for, or as some send it without. */
const deflated: Undo = async (bytes, options) => {
  try {
    return await inflate(bytes, options);
  } catch (error) {
    if (isTooLong(error)) throw error;
    return await inflateRaw(bytes, options);
  }
};

const codings: ReadonlyMap<string, Undo> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", deflated],
  ["br", brotli],
  ...(zstdDecompress === undefined ? [] : [["zstd", promisify(zstdDecompress) as Undo] as const]),
]);

/** A stranger's list may name any number of codings. */
const maxCodings = 4;
/** Files that were stored compressed and are sent compressed once more. */
const maxUnnamedGzips = 2;

/**
 * The bytes before their content codings (RFC 9110, 8.4), none of which may exceed `limit`, or a message why they cannot
 * be had. Words that are no coding are ignored, and so is a coding of what is plain text; gzip is also known by its first
 * bytes.
 */
export async function undoCodings(
  bytes: Uint8Array,
  contentEncoding: string,
  limit: number,
): Promise<Uint8Array | string> {
  const names = contentEncoding
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const applied = names.filter((name) => codings.has(name)).reverse();
  if (applied.length > maxCodings) return `more than ${maxCodings} content codings`;
  let plain: Uint8Array | string = bytes;
  for (const name of applied) {
    if (typeof plain === "string" || isText(plain)) break;
    plain = await undoCoding(plain, name, limit);
  }
  for (let left = maxUnnamedGzips; typeof plain !== "string" && isGzip(plain) && left > 0; left--) {
    plain = await undoCoding(plain, "gzip", limit);
  }
  return plain;
}

async function undoCoding(
  bytes: Uint8Array,
  name: string,
  limit: number,
): Promise<Uint8Array | string> {
  try {
    return (await codings.get(name)?.(bytes, { maxOutputLength: limit })) ?? bytes;
  } catch (error) {
    if (isTooLong(error)) return `larger than ${limit} bytes`;
    return `content-encoding ${name} cannot be undone`;
  }
}

const isTooLong = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";

const isGzip = ([first, second, third]: Uint8Array): boolean =>
  first === 0x1f && second === 0x8b && third === 8;

/** Whether these are the first letters of JSON or HTML, which no coding leaves as they are. */
function isText(bytes: Uint8Array): boolean {
  return /^(?:\ufeff|\s)*(?:\{\s*["}]|\[\s*[{\]]|<[!?a-z])/i.test(
    new TextDecoder().decode(bytes.subarray(0, 256)),
  );
}
