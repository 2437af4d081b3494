import type { ChainId } from "#chains/index.ts";
import type { Html } from "#api/serve/html/html.ts";
import type { Read } from "./reader.ts";

/** Query parameters of the pages. Others, as of who links to them, change nothing, and are not kept apart. */
export const pageParameters = [
  "chainId",
  "cursor",
  "days",
  "exclude_wash",
  "listed",
  "marketplace",
  "max_price",
  "min_price",
  "period",
  "q",
  "sort",
  "traits",
  "type",
  "view",
] as const;
export type PageParameter = (typeof pageParameters)[number];

/** A request for a page. */
export type Visit = {
  readonly chainId: ChainId;
  /** The chains served, for the switch between them. */
  readonly chains: readonly ChainId[];
  /** Path without the query. */
  readonly path: string;
  /** A parameter of the path. */
  readonly key: (name: string) => string;
  /** A query parameter; "" when it is missing or not a single text. */
  readonly parameter: (name: PageParameter) => string;
  /** Query parameters `name[key]=value`. */
  readonly entries: (name: PageParameter) => readonly (readonly [key: string, value: string])[];
  readonly read: Read;
  /** The time at which everything on the page is shown. */
  readonly now: Date;
};

/** What the events of a page are about, and where they are shown. */
export type LiveFilter = {
  readonly collection?: string;
  /** Picked by the page itself. */
  readonly contracts?: readonly string[];
  readonly token?: string;
  readonly wallet?: string;
  readonly type?: string;
};

/** What a page shows below the header. */
export type PageContent = {
  readonly title: string;
  /** For search engines and previews; by default that of the whole site. */
  readonly description?: string | null;
  readonly body: Html;
  readonly status?: number;
  /** Events that change the page while it is open. */
  readonly live?: LiveFilter;
  /** Text of the search box. */
  readonly search?: string;
};

export type PageHandler = (visit: Visit) => Promise<PageContent>;
