import type { Request, Response } from "express";
import { type ChainId, defaultChain } from "#chains/index.ts";

/** What a list of the market shows: a chain, or all that are served. */
export type ChainChoice = ChainId | "all";

const cookieName = "chain";
const maxAgeSeconds = 365 * 86_400;

/** Without a chain in the query the default one, as in the API, where it is served; undefined: not a chain served. */
export function chainOf({ query }: Request, chains: readonly ChainId[]): ChainId | undefined {
  const { chainId } = query;
  if (chainId === undefined) return chains.find((one) => one === defaultChain.id) ?? chains[0];
  return chains.find((one) => String(one) === chainId);
}

/** Of several chains, on a page which has all of them together: in a list also without a chain in the query. */
export function choiceOf(
  request: Request,
  chains: readonly ChainId[],
  isList: boolean,
): ChainChoice | undefined {
  const { chainId = isList ? "all" : undefined } = request.query;
  return chainId === "all" ? "all" : chainOf(request, chains);
}

/**
 * Where a list without a chain in its query leads to for who chose one before; undefined: nobody did. The choice is
 * kept by the browser alone: it is that of the list which was opened last by its chain.
 */
export function chosenBefore(request: Request, chains: readonly ChainId[]): string | undefined {
  if (request.query.chainId !== undefined) return undefined;
  const pairs = (request.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const chosen = chains.find((one) => pairs.includes(`${cookieName}=${one}`));
  if (chosen === undefined) return undefined;
  const query = new URLSearchParams(request.originalUrl.split("?").slice(1).join("?"));
  query.set("chainId", String(chosen));
  return `/${request.path.replace(/^\/+/, "")}?${query}`;
}

/** Has the browser keep the choice that the address names: who asks for the same address is answered the same. */
export function keepChoice(request: Request, response: Response, origin: string): void {
  const { chainId } = request.query;
  if (chainId === undefined) return;
  const parts = [`${cookieName}=${chainId}`, "Path=/", `Max-Age=${maxAgeSeconds}`, "HttpOnly"];
  const secure = origin.startsWith("https:") ? ["Secure"] : [];
  response.append("Set-Cookie", [...parts, "SameSite=Lax", ...secure].join("; "));
}
