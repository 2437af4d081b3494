import type { Partner } from "./partner.ts";
import type { Timeouts } from "./transport.ts";

/** A partner as the operator configured it. */
export type PartnerConfig = {
  url: string;
  key: string | null;
  requestsPerMinute: number;
  /** Websocket of its event stream. */
  streamUrl?: string;
};

/** A partner's API: the descriptions of its settings, and its client. */
export type PartnerDefinition = {
  /** Name and version of the API. */
  readonly api: string;
  readonly exampleUrl: string;
  /** Absent where the partner has no event stream: there is no setting for it. */
  readonly exampleStreamUrl?: string;
  readonly open: (config: PartnerConfig, timeouts: Timeouts) => Partner;
};
