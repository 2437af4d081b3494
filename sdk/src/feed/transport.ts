import type { components } from "../document.ts";

export type MarketEvent = components["schemas"]["Event"];

export type FeedSource = {
  readonly url: string;
  readonly chainId: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  readonly get: (
    path: string,
    params: Record<string, unknown>,
    options: { signal: AbortSignal },
  ) => Promise<EventAnswer>;
};

type EventAnswer = {
  readonly data: readonly MarketEvent[];
  readonly meta: { readonly next: string; readonly has_more: boolean };
};

/** What a transport brings: an event, or only how far it has come. */
type Progress = { readonly position: string; readonly event?: MarketEvent };

export type Transport = (
  source: FeedSource,
  query: Readonly<Record<string, unknown>>,
  options: { pollMs: number; silenceMs: number; signal: AbortSignal },
) => AsyncGenerator<Progress>;
