import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DocumentFetcher, openDocumentFetcher } from "#jobs/metadata/document-fetcher.ts";
import { parseTokenDocument } from "#jobs/metadata/fetch-due.ts";
import type { TokenMetadata } from "#projections/domain/metadata/token-metadata.ts";
import { tokenMetadataFetched } from "#projections/metadata/facts.ts";
import { metadataProjection } from "#projections/metadata/metadata.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { addressOf } from "#test/support/database/given.ts";
import { type DocumentHost, openDocumentHost } from "#test/support/http/document-host.ts";
import { type OddDocument, oddDocument } from "#test/support/market-data/odd-documents.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const count = 500;
const documents = Array.from({ length: count }, (_, place) =>
  oddDocument(randomFrom(place), place),
);

let host: DocumentHost;
let fetcher: DocumentFetcher;
beforeAll(async () => {
  host = await openDocumentHost();
  fetcher = openDocumentFetcher({
    ipfsGateways: [host.origin],
    arweaveGateway: host.origin,
    allowedOrigins: [host.origin],
  });
  host.answers((request, response) => {
    const document = documents[Number(request.url?.slice(1))];
    if (document === undefined) response.writeHead(404).end();
    else response.writeHead(200, { ...document.headers }).end(document.body);
  });
});
afterAll(async () => {
  await fetcher.close();
  await host.close();
});

async function fetchOne(place: number): Promise<TokenMetadata | string> {
  const uri = `${host.origin}/${place}`;
  const standard = documents[place]?.standard ?? 721;
  const document = await fetcher.fetchDocument(uri, new AbortController().signal);
  if (document === undefined) throw new Error("the host is cooling down");
  if ("fault" in document) return document.fault;
  return parseTokenDocument({ tokenId: BigInt(place), standard, uri, form: "hex" }, document);
}

/** In an order of its own: objects have members that are numbers first. */
const sorted = (traits: readonly (readonly [string, string | number])[]) =>
  traits.map((trait) => JSON.stringify(trait)).sort();

const summaryOf = (metadata: TokenMetadata | string) =>
  typeof metadata === "string"
    ? metadata
    : {
        name: metadata.name,
        image: metadata.image,
        traits: sorted(metadata.attributes.map(({ trait_type, value }) => [trait_type, value])),
      };

const expectedOf = ({ source, text, headers }: OddDocument) => ({
  document: { text, headers },
  said:
    source === null
      ? "the document is a JSON schema, not metadata"
      : { name: source.name, image: source.image, traits: sorted(source.traits) },
});

describe(`of ${count} documents as people write and serve them`, () => {
  it("name, image and traits are what their source says, and nothing else is", async () => {
    const results = await Promise.all(documents.map((_, place) => fetchOne(place)));
    results.forEach((result, place) => {
      const document = documents[place] as OddDocument;
      const { text, headers } = document;
      expect({ document: { text, headers }, said: summaryOf(result) }).toEqual(
        expectedOf(document),
      );
    });
  });
});

describe("a row", () => {
  it("says what was left out for a limit, and why there is nothing", async () => {
    const book = await openProjectedLog([ownershipProjection, metadataProjection]);
    await book.clear();
    const metadata: TokenMetadata = {
      ...{ name: "x", description: null, image: null, animation: null, contentType: null },
      attributes: [],
    };
    const about = (tokenId: bigint) => ({
      ...{ chainId: 1, contract: addressOf(50), tokenId },
      recordedAt: new Date("2026-05-01T00:00:00Z"),
    });
    await book.happens(
      tokenMetadataFetched(about(1n), null, metadata),
      tokenMetadataFetched(about(2n), null, { ...metadata, issue: "name cut to 256 characters" }),
      tokenMetadataFetched(about(3n), null, { error: "HTTP 404", attempt: 1 }),
    );
    const { rows } = await sql`
      select status, issue from metadata.token order by token_id`.execute(book.db);
    expect(rows).toEqual([
      { status: "ok", issue: null },
      { status: "ok", issue: "name cut to 256 characters" },
      { status: "failed", issue: "HTTP 404" },
    ]);
    await book.drop();
  });
});
