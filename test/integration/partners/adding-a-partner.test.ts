import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { afterAll, expect, it, vi } from "vitest";

// Files share a module registry: without a reset the tables would be loaded already.
vi.resetModules();
afterAll(() => {
  vi.doUnmock("../../../projections/domain/partners.ts");
  vi.doUnmock("../../../jobs/partners/partner-definitions.ts");
  vi.resetModules();
});

// The two lines of the guide: the entry in the table of partners, and the definition beside its folder.
vi.doMock("../../../projections/domain/partners.ts", async (importOriginal) => {
  const table = await importOriginal<typeof import("#projections/domain/partners.ts")>();
  const example = {
    ...{ alias: "partner_x", displayName: "Example", askIdForm: "prefixed" },
    ...{ filledWith: "signature", feeRecipients: [], zones: [], calldataTags: [] },
  };
  const partners = { ...table.partners, example };
  return { ...table, partners, partnerNames: Object.keys(partners) };
});
vi.doMock("../../../jobs/partners/partner-definitions.ts", async (importOriginal) => {
  const table = await importOriginal<typeof import("#jobs/partners/partner-definitions.ts")>();
  const { example } = await import("./example-partner/definition.ts");
  return { partnerDefinitions: { ...table.partnerDefinitions, example } };
});

const farFuture = 4_000_000_000n;
const root = resolve(import.meta.dirname, "../../..");
const guide = () => readFileSync(resolve(root, "docs/adding-a-partner.md"), "utf8");

it("shows the listings of a partner added by a folder and two lines", async () => {
  const { readConfig } = await import("#ops/config/read-config.ts");
  const { openPartners } = await import("#jobs/partners/open-partners.ts");
  const { background } = await import("#jobs/partners/transport.ts");
  const { openOrderReads } = await import("#test/support/orders/order-reads-fixture.ts");
  const { givenPartnerOrder, partnerSignature } = await import(
    "#test/support/orders/partner-orders.ts"
  );
  const { openSync } = await import("#test/support/orders/partner-sync.ts");
  const { makers, nfts } = await import("#test/support/orders/seeded-orders.ts");
  const { examplePartner } = await import("./example-partner/client.ts");
  const { carol } = makers;
  const terms = { contract: nfts.editions.address, standard: "erc1155", quantity: 1n } as const;
  const order = givenPartnerOrder({
    ...terms,
    maker: carol,
    tokenId: 91n,
    orderType: 1,
    endTime: farFuture,
  });
  const entry = { hash: order.orderHash, order: order.components, signature: partnerSignature };
  const server = createServer((_, response) => {
    response.end(
      JSON.stringify({ listings: [entry] }, (_key, value: unknown) =>
        typeof value === "bigint" ? `${value}` : value,
      ),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const { partners: configs } = readConfig({ PARTNER_X_URL: `http://127.0.0.1:${port}/` });
  const [partner] = openPartners(configs, background);
  const api = await openOrderReads();
  try {
    expect(partner?.name).toBe(examplePartner);
    if (partner === undefined) return;
    const sync = openSync(api.db, partner);
    await sync.enroll(nfts.editions.address);
    expect(await sync.run()).toBe("idle");
    expect(sync.skipped).toEqual([]);
    await api.catchUp();

    const listing = {
      marketplace: "example",
      askId: `example-${order.orderHash}`,
      orderHash: order.orderHash,
    };
    for (const marketplace of ["example", "partner_x"]) {
      const { data } = await api.list(`/v1/listings?marketplace=${marketplace}&status=inactive`);
      expect(data).toMatchObject([{ ...listing, status: "inactive" }]);
    }
    expect(await api.one(`/v1/listings/${listing.askId}`)).toMatchObject(listing);

    const document = JSON.stringify(await api.answer("/v1/openapi.json"));
    expect(document).toContain("`partner_x` is example");
    expect(document).toMatch(/"enum":\["native","opensea","magiceden","example",[^\]]*"partner_x"/);
  } finally {
    await partner?.close();
    await api.close();
    server.close();
  }
});

it("names in its guide at most four files beside the partner's folder, all of which exist", () => {
  const files = [...guide().matchAll(/^\d+\. .*?`([\w./-]+\.\w+)`/gm)].map(
    ([, path]) => path ?? "",
  );
  expect(files.length).toBeGreaterThan(1);
  expect(files.length).toBeLessThanOrEqual(4);
  for (const path of guide().matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|md|json))`/g))
    expect(existsSync(resolve(root, path[1] ?? "")), path[1]).toBe(true);
});
