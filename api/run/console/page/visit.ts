import type { Html } from "#api/pages/kit/html.ts";
import type { ConsoleContext } from "../console-context.ts";

/** A request for a page. */
export type Visit = ConsoleContext & {
  /** A parameter of the path or the query; empty where there is none. */
  readonly parameter: (name: string) => string;
  /** The name that goes with the password; null without one. */
  readonly operator: string | null;
};

export type PageContent = {
  readonly title: string;
  readonly body: Html | readonly Html[];
  /** Whether an open page is kept current; pages with forms are not. */
  readonly isLive?: boolean;
  readonly status?: number;
};

export type PageHandler = (visit: Visit) => Promise<PageContent>;

/** A page that says that something does not exist. */
export const unknown = (title: string, body: Html): PageContent => ({ title, body, status: 404 });
