import type { Request, Response } from "express";
import type { Logger } from "pino";
import type { CallerStreams } from "#api/accounts/caller-streams.ts";
import { events } from "#api/feed/events.ts";
import type { FeedOf } from "#api/feed/start-feed.ts";
import { type Document, sendDocument, textDocument } from "#api/http/answer.ts";
import type { ExplainFailure } from "#api/http/failures.ts";
import { unavailableSeconds } from "#api/http/handler.ts";
import type { Limiter } from "#api/http/limit.ts";
import { addressWith, minPosition, setPosition } from "#api/http/reads/position.ts";
import type { PositionedReads, PositionedSnapshot } from "#api/http/reads/positioned-reads.ts";
import type { ResponseCache } from "#api/http/reads/response-cache.ts";
import { callerAddress } from "#api/http/request.ts";
import type { SlowRequests } from "#api/http/slow-requests.ts";
import type { Context } from "#api/v1/context.ts";
import { type ChainId, defaultChain } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type ChainChoice, chainOf, choiceOf, chosenBefore, keepChoice } from "./chain-choice.ts";
import type { Html } from "./html.ts";
import { layout, refusedPage, unservedChainPage } from "./layout.ts";
import { type PageInput, pageInputOf } from "./page-input.ts";
import { pageFault, sendHtml } from "./serve-website.ts";
import {
  type CardOf,
  openReader,
  type PageContent,
  type PageHandler,
  type PageParameter,
  type Reader,
  RefusedRead,
} from "./visit.ts";

export type SiteContext = {
  /** What the endpoints need. Its addresses are relative: pages link to where they are served. */
  readonly context: Context;
  /** Where the pages are served, without a trailing slash. */
  readonly origin: string;
  readonly logger: Logger;
  /** The live feed of a chain; without it pages are not live. */
  readonly feedOf?: FeedOf | undefined;
  /** Bounds of a visitor's streams; without them there are none. */
  readonly streams?: CallerStreams | undefined;
  readonly cache?: ResponseCache | undefined;
  /** Without it nothing is counted. */
  readonly limiter?: Limiter | undefined;
  /** Reads that took too long; without it each is tried again. */
  readonly slowRequests?: SlowRequests | undefined;
  readonly explain: ExplainFailure;
  readonly reads: PositionedReads;
};

const type = "text/html; charset=utf-8";

export type PageOptions = {
  /**
   * Its query parameters, besides the chain. Others, as of other pages or of who links here, change nothing, and are not
   * kept apart.
   */
  readonly parameters?: readonly PageParameter[];
  /** It is of all chains together where it is asked to; a list is so by itself, and its choice is kept. */
  readonly allChains?: "asked" | "list";
  /** A part that a script puts into a page: sent without what is around each. */
  readonly isFragment?: boolean;
  /** What is drawn for who shares it. */
  readonly card?: CardOf;
  /** As of a route. `mayAsk` counts a request to the API, which asking a node costs there: whether it fits. */
  readonly prepare?: (
    query: unknown,
    context: Context,
    mayAsk: () => Promise<boolean>,
  ) => Promise<void>;
};

/** Serves a page. It is cached as answers of the endpoints are, since nothing else is on it. */
export function servePage(site: SiteContext, handle: PageHandler, options: PageOptions = {}) {
  const { context, origin, cache, logger, feedOf, slowRequests, reads, explain, limiter } = site;
  const { parameters = [], prepare, isFragment = false, allChains } = options;
  const names = new Set<string>(parameters);
  return withChoice(site, allChains, async (request, response, choice): Promise<void> => {
    const make = (now: Date, snapshot: PositionedSnapshot) =>
      makePage(
        request,
        { feedOf, origin, context: { ...context, db: snapshot.db, now: () => now } },
        choice,
        { handle, names, isFragment },
      ).then((made) => ({ ...made, position: snapshot.facts.answered }));
    const address = addressWith(request, ["chainId", ...parameters]);
    const asked = minPosition(request);
    const atLeast = isRejection(asked) ? 0n : asked;
    const source = { request: address, reads, loadClass: "lists", atLeast } as const;
    const read = () =>
      cache === undefined
        ? reads.inSnapshot(source, (snapshot) => make(context.now(), snapshot))
        : cache.get(source, make);
    try {
      await prepare?.(request.query, context, async () => {
        const caller = { address: callerAddress(request), ip: null, key: undefined };
        return limiter === undefined || !isRejection(await limiter.admit(caller));
      });
      const made = await (slowRequests?.read(address, read) ?? read());
      if ("page" in made) sendUnshown(response, made);
      else await sendDocument(request, response, made);
    } catch (error) {
      const { status, why } = pageFault(await explain(error), { request, response, logger });
      sendPage(request, response, site, refusedPage(oneOf(choice, context.chains), status, why));
    }
  });
}

type AnswerChoice = (request: Request, response: Response, choice: ChainChoice) => Promise<void>;

/** For what the request is about, where that is served. A list is of what was chosen before, and keeps what is chosen. */
function withChoice(site: SiteContext, allChains: PageOptions["allChains"], answer: AnswerChoice) {
  const { origin, context } = site;
  const { chains } = context;
  const isSeveral = chains.length > 1;
  const isList = isSeveral && allChains === "list";
  const read = (request: Request) =>
    isSeveral && allChains !== undefined
      ? choiceOf(request, chains, isList)
      : chainOf(request, chains);
  return async (request: Request, response: Response): Promise<void> => {
    const choice = read(request);
    if (choice === undefined) {
      sendPage(request, response, site, unservedChainPage(chains[0] ?? defaultChain.id));
      return;
    }
    if (isList && sendToChosen(request, response, chains)) return;
    if (isList) keepChoice(request, response, origin);
    await answer(request, response, choice);
  };
}

/** Sends who chose a chain before to its list; false: to nobody. */
function sendToChosen(request: Request, response: Response, chains: readonly ChainId[]): boolean {
  if (request.query.chainId === undefined) response.vary("Cookie");
  const location = chosenBefore(request, chains);
  if (location === undefined) return false;
  response.set("Cache-Control", "no-store").redirect(location);
  return true;
}

/** The chain of what is about one, on a page of all. */
const oneOf = (choice: ChainChoice, chains: readonly ChainId[]): ChainId =>
  choice === "all" ? (chains[0] ?? defaultChain.id) : choice;

type Unshown = {
  readonly page: Html;
  readonly status: number;
  readonly position?: bigint;
  /** Where it leads to. */
  readonly location?: string;
};

function sendUnshown(response: Response, { page, status, position, location }: Unshown): void {
  if (location !== undefined) response.set("Location", location);
  if (position !== undefined) setPosition(response, position);
  if (status === 503) response.set("Retry-After", String(unavailableSeconds));
  response.set("Cache-Control", "no-store");
  sendHtml(response, page, status);
}

type Making = Required<Pick<PageOptions, "isFragment">> & {
  readonly handle: PageHandler;
  readonly names: ReadonlySet<string>;
};

async function makePage(
  request: Request,
  site: Pick<SiteContext, "context" | "feedOf" | "origin">,
  choice: ChainChoice,
  { handle, names, isFragment }: Making,
): Promise<Document | Unshown> {
  const { context, feedOf, origin } = site;
  const { chains } = context;
  const reader = openReader(context);
  const now = context.now();
  const chainId = oneOf(choice, chains);
  const listed = choice === "all" ? chains : [choice];
  const followed = listed.filter((one) => !isFragment && feedOf?.(one, "latest") !== undefined);
  // Before everything else: what comes after it is sent to the open page, and is never missed.
  const places = await Promise.all(followed.map((one) => feedPlace(reader.read, one)));
  const feed = { places: places.flat(), prefix: context.market.prefix };
  const input = withParameters(pageInputOf(request), names);
  const visit = { ...input, chainId, chains, listed, now, read: reader.read };
  const content = await handle(visit).catch((error: unknown) => {
    if (error instanceof RefusedRead) return refusedPage(chainId, error.status, error.message);
    throw error;
  });
  const { path } = request;
  const parts = { chainId, choice, chains, path, origin, requests: reader.requests(), now, feed };
  const page = isFragment ? content.body : layout({ ...content, ...parts });
  const { status = 200, leadsTo } = content;
  if (leadsTo !== undefined) return { page, status: 302, location: leadsTo };
  if (status !== 200) return { page, status };
  const document = textDocument({ type, text: page.text, cacheControl: "no-cache" });
  return { ...document, isVolatile: reader.isVolatile() };
}

/** A page that reads what it does not say it has would be kept under the address of another. */
function withParameters(input: PageInput, names: ReadonlySet<string>): PageInput {
  const declared = (name: string) => {
    if (!names.has(name)) throw new Error(`the page does not say that it has ${name}`);
    return name;
  };
  return {
    ...input,
    parameter: (name) => input.parameter(declared(name)),
    entries: (name) => input.entries(declared(name)),
  };
}

/** The place after the newest event; none where there is no feed yet. */
async function feedPlace(read: Reader["read"], chainId: ChainId) {
  const { meta } = await read(events, { query: { chainId: String(chainId), per_page: "1" } });
  return meta?.next === undefined ? [] : [{ chainId, after: meta.next }];
}

/** Sends a page that reads nothing. */
export function sendPage(
  request: Request,
  response: Response,
  { context: { chains, now }, origin }: Pick<SiteContext, "context" | "origin">,
  content: PageContent,
): void {
  const chainId = chainOf(request, chains) ?? chains[0] ?? defaultChain.id;
  const { path } = request;
  const parts = { chainId, choice: chainId, chains, path, origin, requests: [], now: now() };
  response.set("Cache-Control", "no-store");
  sendHtml(response, layout({ ...content, ...parts }), content.status);
}
