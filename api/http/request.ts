import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP, isIPv4 } from "node:net";
import type { Request } from "express";

const acceptable = /^[\w-]{8,64}$/;

/** The caller's own id when it is well formed, else a new one; returned in X-Request-Id. */
export function assignRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers["x-request-id"];
  const id = typeof given === "string" && acceptable.test(given) ? given : randomUUID();
  response.setHeader("X-Request-Id", id);
  return id;
}

export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader("X-Request-Id") ?? "");
}

/**
 * The address that a request is counted for: an IPv4 address, or the /64 of an IPv6 one, which is what a single
 * household or machine is assigned. Express' `trust proxy` decides which address of the chain that is.
 */
export function callerAddress(request: Request): string {
  return (
    groupOf(request.ip ?? "") ?? groupOf(request.socket.remoteAddress ?? "") ?? "unknown address"
  );
}

/**
 * The whole address that a request came from; null when a proxy names none, or something that is none: its own address
 * is not its caller's.
 */
export function callerIp(request: Request): string | null {
  return ipOf(request.ip ?? request.socket.remoteAddress ?? "") ?? null;
}

/** Undefined when the text is not an address: a proxy forwards whatever it receives. */
export function groupOf(text: string): string | undefined {
  const ip = ipOf(text);
  if (ip === undefined || isIPv4(ip)) return ip;
  const network = wordsOf(ip).slice(0, 4);
  return `${network.map((word) => word.toString(16)).join(":")}::/64`;
}

/**
 * The network of an address as requests are counted for: itself, or the /48 of an IPv6 one, since whoever rents a machine
 * is assigned as many as 65,536 of its /64.
 */
export function networkOf(address: string): string {
  const [, words] = /^((?:[0-9a-f]+:){2}[0-9a-f]+):[0-9a-f]+::\/64$/.exec(address) ?? [];
  return words === undefined ? address : `${words}::/48`;
}

/** Without port and zone; IPv4 also where it is written as IPv6. */
function ipOf(text: string): string | undefined {
  const address = withoutPort(text).replace(/%.*$/, "");
  if (isIPv4(address)) return address;
  if (isIP(address) === 0) return undefined;
  const words = wordsOf(address);
  const isMapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff;
  return isMapped ? words.slice(6).flatMap(bytesOf).join(".") : address;
}

/** Some proxies write `address:port`. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/.exec(text) ?? [];
  return bracketed ?? plain ?? text;
}

/** The eight 16-bit words of an IPv6 address; the URL parser knows every way to write one. */
function wordsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address}]`);
  const [before = "", after] = hostname.slice(1, -1).split("::");
  const parse = (part: string | undefined) =>
    part ? part.split(":").map((word) => Number.parseInt(word, 16)) : [];
  const [head, tail] = [parse(before), parse(after)];
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

const bytesOf = (word: number): number[] => [word >> 8, word & 0xff];

/** The longest path that is kept of a request: a caller may send 16 kB of it with each. */
const maxLength = 300;

/** The path of a request as it is logged: without its query, cut. */
export const loggedPath = ({ baseUrl, path }: Pick<Request, "baseUrl" | "path">): string =>
  (baseUrl + path).slice(0, maxLength);

/** What stands behind the path of a request, cut; null: nothing. */
export const loggedQuery = ({ originalUrl }: Pick<Request, "originalUrl">): string | null =>
  /\?(.+)$/s.exec(originalUrl)?.[1]?.slice(0, maxLength) ?? null;
