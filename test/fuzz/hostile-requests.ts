import fc from "fast-check";
import { hostileText } from "../support/http/drawn-values.ts";
import type { DrawnRequest } from "../support/http/plausible-requests.ts";

/** A request with headers of its own. */
export type FuzzRequest = DrawnRequest & { readonly headers?: Readonly<Record<string, string>> };

const headers = fc.constantFrom<Readonly<Record<string, string>>>(
  { "x-api-key": "mk_live_x" },
  { "x-api-key": "x".repeat(8_000) },
  { authorization: "Bearer" },
  { authorization: `Basic ${"=".repeat(4_000)}` },
  { "content-encoding": "gzip" },
  { "content-encoding": "br, gzip, deflate" },
  { "content-type": "application/json; charset=utf-7" },
  { "content-type": "multipart/form-data; boundary=x" },
  { "content-type": "text/plain" },
  { "accept-encoding": "zstd;q=0.1, *;q=0, identity;q=0" },
  { accept: "x".repeat(4_000) },
  { "if-none-match": `"${'","'.repeat(2_000)}"` },
  { range: "bytes=0-,0-,0-,-1" },
  { "x-forwarded-for": "::ffff:1.2.3.4, x, , 999.1.1.1" },
  { "x-forwarded-host": "evil.test", "x-forwarded-proto": "javascript" },
  { host: "evil.test:99999" },
  { cookie: "a=b;".repeat(2_000) },
  { origin: "null", "access-control-request-method": "X" },
  { "last-event-id": "9".repeat(400) },
  { "x-request-id": "'; drop table x;--" },
  { "x-http-method-override": "DELETE" },
);

/** The same request with hostile headers. */
export const withHeaders = (requests: fc.Arbitrary<DrawnRequest>): fc.Arbitrary<FuzzRequest> =>
  fc.tuple(requests, headers).map(([request, added]) => ({ ...request, headers: added }));

const replacement = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, [], {}, -1, 1e300, true, "0x", `0x${"f".repeat(64)}`, "0"),
  fc.bigInt({ min: 0n, max: 2n ** 256n }).map(String),
);

/** Orders that are signed, with one place changed, removed or multiplied, at every intake route. */
export function brokenOrders(signedAsk: unknown, signedBid: unknown, chainId: number) {
  const broken = (signed: unknown) =>
    fc.tuple(fc.nat(1_000), replacement, fc.nat(3)).map(([place, value, how]) => {
      const copy = structuredClone(signed) as Node;
      const places = placesOf(copy);
      const [holder, key] = places[place % places.length] ?? [copy, "parameters"];
      const node = holder as Record<string, unknown>;
      if (how === 0) delete node[key];
      else if (how === 1) node[`${key}x`] = value;
      else node[key] = value;
      return copy;
    });
  const post = (path: string, body: unknown): DrawnRequest => ({
    method: "post",
    path,
    body: JSON.stringify(body),
  });
  const ofSide = (side: "asks" | "bids", signed: unknown) =>
    fc.oneof(
      broken(signed).map((seaport) => post(`/v1/orders/${side}`, { chainId, seaport })),
      fc.array(broken(signed), { minLength: 1, maxLength: 50 }).map((orders) =>
        post(`/v1/orders/${side}/bulk`, {
          chainId,
          [side === "asks" ? "listings" : "bids"]: orders.map((seaport) => ({ seaport })),
        }),
      ),
    );
  return fc.oneof(ofSide("asks", signedAsk), ofSide("bids", signedBid));
}

type Node = Record<string, unknown> | unknown[];

function placesOf(node: Node): [Node, string][] {
  return Object.entries(node).flatMap(([key, value]): [Node, string][] => [
    [node, key],
    ...(typeof value === "object" && value !== null ? placesOf(value as Node) : []),
  ]);
}
