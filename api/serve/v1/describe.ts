import { numberedChains } from "#chains/texts.ts";
import { describeRoutes, thisDocument } from "../http/openapi/openapi.ts";
import { withExamples } from "../reference/examples.ts";
import type { V1Route } from "./routing/context.ts";

/** Version of the HTTP interface, not of the package. */
const interfaceVersion = "2.0.0";

/** What is the same under any address: making it takes a sixth of a second. */
const made = new WeakMap<readonly V1Route[], ReturnType<typeof describe>>();

/** The OpenAPI document of `/v1`. */
export function describeV1(baseUrl: string, routes: readonly V1Route[]) {
  const document = made.get(routes) ?? describe(routes);
  made.set(routes, document);
  return { ...document, servers: [{ url: baseUrl }] };
}

function describe(routes: readonly V1Route[]) {
  const info = {
    title: "NFT market data and order book",
    version: interfaceVersion,
    description:
      `Collections, tokens and sales of ${numberedChains}. ` +
      "Amounts in wei and token ids are decimal strings; addresses are lower case; times are UTC.",
    baseUrl: "",
  };
  const document = describeRoutes(routes, info, { "/v1/openapi.json": thisDocument });
  return withExamples(document, "v1");
}
