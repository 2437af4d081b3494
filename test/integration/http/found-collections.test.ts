import type { KyselyPlugin } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeSnapshot } from "#api/http/reads/cache.ts";
import { openPositionedReads } from "#api/http/reads/positioned-reads.ts";
import { openTarget } from "#api/http/reads/target.ts";
import { referTo } from "#api/v1/collection-reference.ts";
import { projectionNames } from "#projections/all.ts";
import { appendObservations } from "#projections/log/append.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import { collectionsRegistered, nfts } from "#test/support/market-data/token-market.ts";

let stage: NftDataFixture;
beforeAll(async () => {
  stage = await openNftDataFixture();
  await stage.playMarket(3, 5);
});
afterAll(() => stage?.close());

it("a collection is looked up once in the same data, and again when they have changed", async () => {
  const projections = projectionNames;
  const reads = openPositionedReads({ primary: openTarget(stage, projections), projections });
  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  const refer = (key: string) =>
    reads.inSnapshot({ loadClass: "data", atLeast: 0n }, ({ db, facts }) => {
      const counted = db.withPlugin(counting);
      describeSnapshot(counted, facts);
      return referTo(counted, 1, key);
    });
  const { address } = nfts.punks;
  const byAddress = await refer(address);
  expect(byAddress).toMatchObject({ address, slug: "punks" });
  expect(await refer(address.toUpperCase().replace("0X", "0x"))).toEqual(byAddress);
  expect(statements).toBe(1);
  expect(await refer("punks")).toMatchObject({ address, contractId: null });
  expect(await refer("nobody")).toBeNull();
  expect(await refer("nobody")).toBeNull();
  expect(statements).toBe(4);

  const [registered] = collectionsRegistered();
  if (registered === undefined) throw new Error("no collection");
  const payload = Object.assign({}, registered.payload, { slug: "renamed" });
  const identity = `0x${"77".repeat(32)}` as const;
  await appendObservations(stage.db, [{ ...registered, identity, payload }]);
  await stage.happens();
  expect(await refer(address)).toMatchObject({ slug: "renamed" });
  expect(await refer("punks")).toBeNull();
});
