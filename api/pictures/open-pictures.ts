import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Media } from "#api/http/answer.ts";
import { type DocumentFetcher, openDocumentFetcher } from "#jobs/metadata/document-fetcher.ts";
import { createCooldowns, createWindows, openTurns, withinMs } from "#jobs/runner/limits.ts";
import { type PictureWidth, pictureWidths } from "./address.ts";
import {
  type DecodeRequest,
  openPictureDecoder,
  type PictureDecoder,
  type PictureFormat,
} from "./decoder.ts";
import { openPictureFiles, type PictureFiles } from "./picture-files.ts";

type Wanted = {
  /** As in the metadata. */
  readonly uri: string;
  readonly width: PictureWidth;
  readonly format: PictureFormat;
  /** Who waits for it. */
  readonly caller: string;
  /** Whose it is. What is costly again and again is left alone for a while, with all of its contract's pictures. */
  readonly contract: string;
};

type WantedCard = Pick<Wanted, "caller" | "contract"> & {
  readonly svg: string;
  readonly picture: Buffer;
};

/** Pictures at the widths of the site. `busy`: it is still made, or the caller or everybody waits for too many already. */
export type Pictures = {
  get(wanted: Wanted): Promise<Media | "none" | "busy">;
  /** A picture below an SVG of ours, as PNG of `cardSize`: the same bytes make the same card. */
  card(wanted: WantedCard): Promise<Media | "none" | "busy">;
  close(): Promise<void>;
};

export type PicturesOptions = {
  readonly directory: string;
  readonly maxBytes: number;
  readonly ipfsGateways: readonly string[];
  readonly arweaveGateway: string;
  readonly logger: Logger;
  readonly decoder?: PictureDecoder;
  readonly now?: () => number;
  /** Milliseconds that a caller waits: a browser has few connections, and this one may be its last. */
  readonly waitMs?: number;
};

const limits = { timeoutMs: 15_000, bytes: 12 * 1_048_576, readsPictures: true };
/** How many are fetched at once, each held in memory; how many wait at most, and one caller makes us make. */
const most = { atOnce: 6, waiting: 600, waitingOfCaller: 100, perMinuteOfCaller: 300 };
const minuteMs = 60_000;
/** Milliseconds of decoding in vain that are costly: the decoder is one for everybody. */
const costlyMs = 1_500;
const costlyRest = { failuresUntilCooldown: 3, firstMs: 600_000, mostMs: 86_400_000 };
/** Pictures that cannot be had or shown are not tried again for a while. */
const faultMs = 600_000;

type Parts = {
  readonly files: PictureFiles;
  readonly fetcher: DocumentFetcher;
  readonly decoder: PictureDecoder;
  readonly costly: ReturnType<typeof createCooldowns<string>>;
  readonly ending: AbortSignal;
  readonly tellUnstored: (error: unknown) => void;
};

/** A disk that fails does so for each picture: it is said once a minute. */
function tellAtMost(logger: Logger, now: () => number): Parts["tellUnstored"] {
  const told = createWindows(minuteMs, now);
  return (err) => {
    if (told.of("") > 0) return;
    told.count("");
    logger.warn({ err }, "picture not stored");
  };
}

export function openPictures(options: PicturesOptions): Pictures {
  const { directory, maxBytes, logger, now = Date.now, waitMs = 8_000, ...gateways } = options;
  const ending = new AbortController();
  const parts: Parts = {
    files: openPictureFiles({ directory, maxBytes, now }),
    fetcher: openDocumentFetcher({ ...gateways, limits }),
    decoder: options.decoder ?? openPictureDecoder(),
    costly: createCooldowns({ now, ...costlyRest }),
    ending: ending.signal,
    tellUnstored: tellAtMost(logger, now),
  };
  const faults = new LRUCache<string, true>({ max: 20_000, ttl: faultMs, perf: { now } });
  const making = new Map<string, Promise<Media | "none">>();
  const turns = openTurns(most);
  const begun = createWindows(minuteMs);
  const isBusy = (caller: string) =>
    turns.waiting() >= most.waiting ||
    turns.waiting(caller) >= most.waitingOfCaller ||
    begun.of(caller) >= most.perMinuteOfCaller;

  /** Makes what is not made already, within everybody's bounds. */
  async function make(
    { key, name }: { key: string; name: string },
    { caller, contract }: Pick<Wanted, "caller" | "contract">,
    work: () => Promise<Media | { fault: string }>,
  ): Promise<Media | "none" | "busy"> {
    if (faults.has(key) || parts.costly.isCoolingDown(contract)) return "none";
    const known = making.get(name);
    if (known !== undefined) return await withinMs(waitMs, known, isStillMade);
    if (isBusy(caller)) return "busy";
    begun.count(caller);
    const mine = turns.run(caller, async () => {
      const made = await work();
      if (!("fault" in made)) return made;
      if (!parts.ending.aborted) faults.set(key, true);
      logger.debug({ picture: key, reason: made.fault }, "picture not shown");
      return "none";
    });
    const kept = mine.finally(() => making.delete(name));
    making.set(name, kept);
    return await withinMs(waitMs, kept, isStillMade);
  }

  return {
    async get(wanted) {
      const key = createHash("sha256").update(wanted.uri).digest("hex").slice(0, 40);
      const stored = await readStored(parts.files, key, wanted);
      if (stored !== undefined) return stored;
      const name = nameOf(key, wanted);
      return await make({ key, name }, wanted, () => makePicture(parts, key, wanted));
    },
    async card(wanted) {
      const { svg, picture } = wanted;
      const key = createHash("sha256").update(svg).update(picture).digest("hex").slice(0, 40);
      const name = `${key}-card.png`;
      const stored = await parts.files.read(name);
      if (stored !== undefined) return { type: "image/png", bytes: stored };
      return await make({ key, name }, wanted, () => makeCard(parts, name, wanted));
    },
    async close() {
      ending.abort();
      parts.decoder.close();
      await Promise.allSettled([parts.fetcher.close(), ...making.values()]);
    },
  };
}

const isStillMade = () => "busy" as const;

const nameOf = (key: string, { width, format }: Pick<Wanted, "width" | "format">): string =>
  `${key}-${width}.${format}`;
const wholeName = (key: string): string =>
  nameOf(key, { width: pictureWidths.page, format: "webp" });
const svgName = (key: string): string => `${key}.svg`;

async function readStored(
  files: PictureFiles,
  key: string,
  wanted: Wanted,
): Promise<Media | undefined> {
  const bytes = await files.read(nameOf(key, wanted));
  if (bytes !== undefined) return { type: `image/${wanted.format}`, bytes };
  const svg = await files.read(svgName(key));
  return svg && { type: "image/svg+xml", bytes: svg };
}

/** From what is stored of it at the largest width, else from its original. */
async function makePicture(
  parts: Parts,
  key: string,
  { uri, width, format, contract }: Wanted,
): Promise<Media | { fault: string }> {
  const { files, fetcher, ending } = parts;
  const stored = await files.read(wholeName(key));
  const original = stored ?? (await originalOf(fetcher, uri, ending));
  if ("fault" in original) return original;
  const decoded = await decodeFor(parts, contract, { bytes: original, width, format });
  if ("fault" in decoded) return decoded;
  const { type, bytes, whole } = decoded;
  const isNew = whole !== undefined && stored === undefined;
  const name = whole === undefined ? svgName(key) : nameOf(key, { width, format });
  if (isNew) await store(parts, wholeName(key), whole);
  await store(parts, name, bytes);
  return { type, bytes: Buffer.from(bytes) };
}

async function makeCard(
  parts: Parts,
  name: string,
  { svg, picture, contract }: WantedCard,
): Promise<Media | { fault: string }> {
  const decoded = await decodeFor(parts, contract, { bytes: picture, card: svg });
  if ("fault" in decoded) return decoded;
  const { type, bytes } = decoded;
  await store(parts, name, bytes);
  return { type, bytes: Buffer.from(bytes) };
}

async function decodeFor({ decoder, costly }: Parts, contract: string, request: DecodeRequest) {
  const decoded = await decoder.decode(request);
  if ("fault" in decoded && decoded.ms > costlyMs) costly.recordFailure(contract);
  return decoded;
}

async function store({ files, tellUnstored }: Parts, name: string, bytes: Uint8Array) {
  try {
    await files.write(name, bytes);
  } catch (error) {
    // It is shown all the same.
    tellUnstored(error);
  }
}

async function originalOf(
  fetcher: DocumentFetcher,
  uri: string,
  signal: AbortSignal,
): Promise<Uint8Array | { fault: string }> {
  const found = await fetcher.fetchDocument(uri, signal);
  if (found === undefined) return { fault: "its host is left alone for a while" };
  return "fault" in found ? found : found.bytes;
}
