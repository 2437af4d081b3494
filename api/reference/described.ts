import { operationsOf, titleOf } from "./api-document.ts";
import { type ApiName, withExamples } from "./examples.ts";
import { withSharedRows } from "./row-fields.ts";
import { withSharedParts } from "./shared-parts.ts";

type Document = {
  readonly info: object;
  readonly paths: object;
  readonly components?: object;
  readonly tags: readonly { readonly name: string }[];
};

/** What an operation's tag is about, of both APIs. */
const tagTexts: Readonly<Record<string, string>> = {
  Activity: "What happened to tokens, newest first: mints, transfers, sales, listings, bids.",
  Authentication: "Keys and tokens, and what they may do.",
  Batches: "Several collections or wallets in one request.",
  Bids: "Offers for tokens and collections, and what accepts one.",
  Collections: "Collections with their figures, tokens, traits, holders and prices over time.",
  Events: "The log as it grows: resumable by id, as pages or as a stream.",
  Listings: "What can be bought, and what buys it.",
  Names: "Names of the Ethereum Name Service.",
  Orders: "Orders by their makers: terms, submission, cancelling.",
  Prices: "Prices of native currencies in US dollars.",
  Sales: "What was sold, on any exchange.",
  Search: "Collections, tokens, wallets and orders by a text.",
  Service: "The service itself.",
  Snapshots: "Who held tokens at a final block, stored, with proofs that contracts verify.",
  Tokens: "Tokens of a collection.",
  Transactions: "What a transaction did.",
  Wallets: "What a wallet has and could get.",
  Webhooks: "Events sent to an address.",
};

/**
 * The document as people and generators read it: each operation with a title, examples, parts that several operations have
 * written once, tags explained. Changes and returns the document.
 */
export function describedFor<Whole extends Document>(document: Whole, api: ApiName): Whole {
  for (const { path, method, id, summary } of operationsOf(document)) {
    const methods = (document.paths as Record<string, Record<string, object>>)[path] ?? {};
    Object.assign(methods[method] ?? {}, {
      summary: titleOf({ id }),
      description: `${summary}.`,
    });
  }
  for (const tag of document.tags) Object.assign(tag, { description: tagTexts[tag.name] });
  const license = { name: "Apache-2.0", identifier: "Apache-2.0" };
  Object.assign(document.info, { license });
  return withSharedRows(withSharedParts(withExamples(document, api)));
}

/** Whom to ask about an API that is served at an address: whoever serves it. */
export const operatorAt = (baseUrl: string) => ({ name: "Who runs this server", url: baseUrl });
