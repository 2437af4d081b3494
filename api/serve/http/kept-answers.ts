import { LRUCache } from "lru-cache";
import type { Document } from "./answer.ts";

export type KeptAnswers = {
  /**
   * The answer to a request as of the beginning of this second: the one that was made before, while nothing has changed
   * since; else a new one by `make`, which all share who ask for it meanwhile. What is no document or passing is not kept.
   */
  of<Other extends object>(
    request: string,
    make: (now: Date) => Promise<Document | Other>,
  ): Promise<Document | Other>;
};

export type KeptAnswersOptions = {
  /** A word that changes whenever anything changes that answers are made of, and never comes again. */
  readonly readStanding: () => Promise<string>;
  readonly now: () => Date;
  /** Bytes of all that is kept. */
  readonly maxBytes?: number;
};

const mostBytes = 64 * 1024 * 1024;

type Made = Document | object;
type Kept = { readonly standing: string; readonly document: Document };

/** Keeps answers that depend on nothing but what `readStanding` tells of and the clock's whole seconds. */
export function openKeptAnswers(options: KeptAnswersOptions): KeptAnswers {
  const { readStanding, now, maxBytes = mostBytes } = options;
  const kept = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    // With half of a body's room for its packed forms.
    sizeCalculation: ({ document }, request) =>
      Math.ceil(1.5 * document.body.byteLength) + 2 * request.length + 500,
  });
  const making = new Map<string, Promise<Made>>();
  const read = sharingReads(readStanding);

  const make = async (request: string, standing: string, made: Promise<Made>) => {
    const answer = await made;
    if (isDocument(answer) && answer.isPassing !== true)
      kept.set(request, { standing, document: answer });
    return answer;
  };
  const of = async (request: string, makeAt: (now: Date) => Promise<Made>): Promise<Made> => {
    const second = Math.floor(now().getTime() / 1_000);
    // Read before the answer's own reads: what is kept under it was made of nothing older.
    const standing = `${second} ${await read()}`;
    const known = kept.get(request);
    if (known?.standing === standing) return known.document;
    const place = `${standing} ${request}`;
    const underWay = making.get(place);
    if (underWay !== undefined) return underWay;
    const answer = make(request, standing, makeAt(new Date(second * 1_000)));
    making.set(place, answer);
    return answer.finally(() => making.delete(place));
  };
  return { of: of as KeptAnswers["of"] };
}

function isDocument(answer: Made): answer is Document {
  return "etag" in answer;
}

/** One read at a time; who comes while it is under way waits for the next, which begins after they came. */
function sharingReads(read: () => Promise<string>): () => Promise<string> {
  let underWay: Promise<string> | undefined;
  let next: Promise<string> | undefined;
  const begin = (): Promise<string> => {
    next = undefined;
    underWay = read().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  return () => {
    if (underWay === undefined) return begin();
    next ??= underWay.then(begin, begin);
    return next;
  };
}
