import { z } from "zod";

/** What can be wrong with an answer that arrives. */
const wrongnesses = [
  /** Every second listing of a page lacks what it must have, or has it in another type. */
  "malformed",
  /** Listings are returned under the hash of another order. */
  "hash",
  /** Prices are returned that differ from the sum of the legs. */
  "price",
  /** The body ends in the middle. */
  "truncated",
  /** Fulfilment data is of an order that pays the seller more. */
  "substituted",
  /** Fulfilment data is signed by somebody whom the zone does not believe. */
  "signer",
] as const;

export const Faults = z.object({
  /** Time before every answer. */
  slowMs: z.int().min(0).max(600_000),
  wrong: z.array(z.enum(wrongnesses)),
  /** `reset`: connections break; `refusing`: 503. */
  down: z.enum(["reset", "refusing"]).nullable(),
  /**
   * Of the stream. `down`: no connection; `refusing`: 401; `mute`: nothing is answered; `losing`: events are lost;
   * `garbage`: before each event comes something that cannot be read.
   */
  stream: z.enum(["down", "refusing", "mute", "losing", "garbage"]).nullable(),
  /** 429 for the next `requests`, or for all of them. */
  limited: z
    .object({ retryAfterSeconds: z.int().min(0), requests: z.int().min(1).optional() })
    .nullable(),
  /** How far the partner's clock is ahead. */
  clockOffsetSeconds: z.int(),
});

export type Faults = z.output<typeof Faults>;

export const withoutFaults: Faults = {
  slowMs: 0,
  wrong: [],
  down: null,
  stream: null,
  limited: null,
  clockOffsetSeconds: 0,
};
