import { erc20Abi, parseEther } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { postedIds } from "#sdk/src/viem/index.ts";
import {
  mintEdition,
  mintPunk,
  mintPunks,
  orderRequest,
  type TestChain,
  takeIds,
  untilDerived,
  untilStatus,
  weiOf,
} from "#test/support/orders/test-chains.ts";
import { type Caller, openCaller, postedId, statesOf } from "./callers.ts";

/** The acceptance of the order book, as callers of the client see it. */
export function describeTrading(openChain: () => TestChain): void {
  describe("trading through the client", () => {
    let testChain: TestChain;
    let alice: Caller;
    let bob: Caller;
    let carol: Caller;
    beforeAll(() => {
      testChain = openChain();
      [alice, bob, carol] = [
        openCaller(testChain, "alice"),
        openCaller(testChain, "bob"),
        openCaller(testChain, "carol"),
      ];
    });
    const becomes = (side: "listings" | "bids", id: string, status: string) =>
      untilStatus(testChain.trader("bob"), side, id, status);
    const ownerOf = (nft: Nft) =>
      testChain.client.readContract({
        address: nft.contract,
        abi: [
          {
            type: "function",
            name: "ownerOf",
            stateMutability: "view",
            inputs: [{ type: "uint256", name: "id" }],
            outputs: [{ type: "address" }],
          },
        ] as const,
        functionName: "ownerOf",
        args: [nft.tokenId],
      });

    it("a listing is active when it is listed, and the buyer's when it is bought", async () => {
      const nft = await mintPunk(testChain, "alice");
      const listed = await alice.trader.list([orderRequest(nft, "1")]);
      expect(statesOf(listed)).toEqual([
        "approve skipped",
        "confirm skipped",
        "sign done",
        "post done",
      ]);
      const askId = postedId(listed);
      await becomes("listings", askId, "active");

      const plan = await bob.trader.plan.buy([{ askId }], { maxPriceWei: parseEther("1") });
      expect(plan.steps[0]).toMatchObject({
        costs: { wei: `${parseEther("1")}` },
        paysGas: true,
        state: "waiting",
      });
      const bought = await bob.trader.run(JSON.parse(JSON.stringify(plan)));
      expect(statesOf(bought)).toEqual(["send done", "confirm done", "sync done"]);
      expect(bought.steps[2]).toMatchObject({ statuses: ["filled"] });
      expect(await ownerOf(nft)).toBe(bob.account.address);
      await expect(bob.trader.buy([{ askId }])).rejects.toMatchObject({
        code: "blocked",
        reason: "unavailable",
      });
    });

    it("units of an ERC-1155 listing are bought in two parts", async () => {
      const nft = await mintEdition(testChain, "alice", 10n);
      const askId = postedId(await alice.trader.list([orderRequest(nft, "0.5", 10n)]));
      const four = await bob.trader.buy([{ askId, quantity: 4n }]);
      expect(four.steps[0]).toMatchObject({ action: { priceWei: `${parseEther("2")}` } });
      expect(four.steps[2]).toMatchObject({ statuses: ["active"] });
      await expect(carol.trader.buy([{ askId, quantity: 7n }])).rejects.toMatchObject({
        code: "blocked",
        reason: "bad_amount",
      });
      // Without a number one unit is bought, and not whatever is left at as many times the price that was shown.
      const one = await carol.trader.plan.buy([{ askId }]);
      expect(one.steps[0]).toMatchObject({
        action: { quantity: "1", priceWei: `${parseEther("0.5")}` },
      });
      const six = await carol.trader.buy([{ askId, quantity: 6n }]);
      expect(six.steps[0]).toMatchObject({ action: { quantity: "6" } });
      expect(six.steps[2]).toMatchObject({ statuses: ["filled"] });
    });

    it("many listings take one signature, and a refused one does not hinder the others", async () => {
      const nfts = await mintPunks(testChain, "alice", 5n);
      const stranger = await mintPunk(testChain, "carol");
      const before = alice.signed.orders;
      const items = [...nfts, stranger].map((nft) => orderRequest(nft, "2"));
      const plan = await alice.trader.list(items);
      expect(plan.refused).toMatchObject([{ index: 5, code: "not_owner" }]);
      const results = plan.steps.flatMap((step) => (step.kind === "post" ? step.results : []));
      expect(results.map(({ success, status }) => [success, status])).toEqual(
        nfts.map(() => [true, "active"]),
      );
      expect(alice.signed.orders - before).toBe(1);

      const askIds = results.map(({ id = "" }) => id);
      const swept = await bob.trader.buy(
        askIds.slice(0, 2).map((askId) => ({ askId })),
        { maxPriceWei: parseEther("4") },
      );
      expect(
        swept.steps.filter(({ kind, state }) => kind === "send" && state === "done"),
      ).toHaveLength(2);
      const order = await bob.trader.plan
        .buy(
          askIds.slice(2).map((askId) => ({ askId })),
          { maxPriceWei: parseEther("5.99") },
        )
        .catch((error: unknown) => error);
      expect(order).toMatchObject({ name: "WalletError", code: "price_limit" });
    });

    it("a sweep buys by one transaction what is left of it, and says what is not", async () => {
      const nfts = await mintPunks(testChain, "alice", 6n);
      const cheap = nfts.map((nft) => orderRequest(nft, "0.001"));
      const listed = await alice.trader.list(cheap);
      const askIds = postedIds(listed);
      const input = { collection: contracts.punks, count: 6, budgetWei: parseEther("0.006") };
      const plan = await bob.trader.plan.sweep(input);
      expect(plan.steps.map(({ kind }) => kind)).toEqual(["send", "confirm", "sync"]);
      expect(plan.steps[0]).toMatchObject({
        costs: { wei: `${parseEther("0.006")}` },
        action: { items: askIds.map((askId) => ({ askId })) },
      });

      const [sold = "", cancelled = "", moved, ...left] = askIds;
      await carol.trader.buy([{ askId: sold }]);
      await alice.trader.cancel({ askIds: [cancelled] });
      const third = nfts[2];
      if (third === undefined) throw new Error("no third token");
      await testChain.actors.alice.transfers(third, testChain.actors.carol);

      const swept = await bob.trader.run(JSON.parse(JSON.stringify(plan)));
      expect(statesOf(swept)).toEqual(["send done", "confirm done", "sync done"]);
      const [send] = swept.steps;
      expect(send).toMatchObject({ bought: left });
      const missed = send?.kind === "send" ? send.missed : [];
      expect(missed?.map(({ askId }) => askId)).toEqual([sold, cancelled, moved]);
      for (const nft of nfts.slice(3)) expect(await ownerOf(nft)).toBe(bob.account.address);

      // Nothing is left: no transaction is sent.
      await expect(bob.trader.run(plan)).rejects.toMatchObject({ code: "blocked" });
    });

    it("a device that cannot sign a tree is asked for each order", async () => {
      const nfts = await mintPunks(testChain, "alice", 3n);
      const asked: string[] = [];
      const { account } = alice;
      const small = openCaller(testChain, "alice", {
        signTypedData: (data) => {
          asked.push(data.primaryType);
          if (data.primaryType === "BulkOrder") return Promise.reject(new Error("too deep"));
          return account.signTypedData?.(data as never) ?? Promise.reject(new Error("none"));
        },
      });
      const plan = await small.trader.list(nfts.map((nft) => orderRequest(nft, "2")));
      expect(asked).toEqual(["BulkOrder", ...nfts.map(() => "OrderComponents")]);
      const [post] = plan.steps.filter((step) => step.kind === "post");
      expect(post?.results.every(({ success }) => success)).toBe(true);
    });

    it("an offer is approved exactly, accepted, and nets its seller what the plan shows", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("5"));
      const offered = await bob.trader.offer([orderRequest(nft, "3")]);
      const bidId = postedId(offered);
      const wanted = { contract: nft.contract, unitPriceWei: parseEther("2") };
      const collectionBid = postedId(await bob.trader.offer([wanted]));

      const other = await mintPunk(testChain, "carol");
      for (const [id, tokenId] of [
        [bidId, nft.tokenId],
        [collectionBid, other.tokenId],
      ] as const) {
        const before = await weiOf(testChain, carol.account.address);
        const plan = await carol.trader.accept({ bidId: id, tokenId });
        const [sent] = plan.steps.filter((step) => step.kind === "send");
        const { action } = sent ?? {};
        const netWei = action?.name === "accept" ? BigInt(action.netWei) : 0n;
        expect((await weiOf(testChain, carol.account.address)) - before).toBe(netWei);
        expect(plan.steps.at(-1)).toMatchObject({ statuses: ["filled"] });
      }
    });

    it("the best bid for a token is accepted, unless it brings too little", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("40"));
      const bidId = postedId(await bob.trader.offer([orderRequest(nft, "40")]));
      const best = { contract: nft.contract, tokenId: nft.tokenId };
      await becomes("bids", bidId, "active");
      await expect(
        carol.trader.accept(best, { minNetWei: parseEther("40") }),
      ).rejects.toMatchObject({ code: "price_limit" });
      const plan = await carol.trader.accept(best, { minNetWei: parseEther("30") });
      expect(plan.steps.at(-1)).toMatchObject({ kind: "sync", statuses: ["filled"] });
      expect(await ownerOf(nft)).toBe(bob.account.address);
    });

    it("orders are cancelled by name, on both sides at once", async () => {
      const one = await mintPunk(testChain, "alice");
      await testChain.actors.alice.wraps(parseEther("1"));
      const askId = postedId(await alice.trader.list([orderRequest(one, "1")]));
      const stranger = await mintPunk(testChain, "carol");
      const bidId = postedId(await alice.trader.offer([orderRequest(stranger, "1")]));
      const cancelled = await alice.trader.cancel({ askIds: [askId], bidIds: [bidId] });
      expect(cancelled.steps.at(-1)).toMatchObject({ statuses: ["cancelled", "cancelled"] });
    });

    it("all orders are cancelled by the counter, and a plan that was made before is stale", async () => {
      const frank = openCaller(testChain, "frank");
      const nfts = [await mintPunk(testChain, "frank"), await mintPunk(testChain, "frank")];
      const items = nfts.map((nft) => orderRequest(nft, "1"));
      const other = await mintPunk(testChain, "alice");
      const untouched = postedId(await alice.trader.list([orderRequest(other, "1")]));
      const made = await frank.trader.plan.list(items);
      for (const id of postedIds(await frank.trader.list(items)))
        await becomes("listings", id, "active");
      const all = await frank.trader.cancel({ all: true });
      expect(all.steps.at(-1)).toMatchObject({ statuses: ["cancelled", "cancelled"] });
      await becomes("listings", untouched, "active");
      await expect(frank.trader.run(made)).rejects.toMatchObject({ code: "stale_plan" });
    });

    it("somebody else's order is the caller's mistake, not an unsafe answer", async () => {
      const nft = await mintPunk(testChain, "alice");
      const askId = postedId(await alice.trader.list([orderRequest(nft, "2")]));
      const mistakes = [
        () => carol.trader.cancel({ askIds: [askId] }),
        () => carol.trader.relist([{ askId, unitPriceWei: 1n }]),
      ];
      for (const make of mistakes)
        await expect(make()).rejects.toMatchObject({ code: "blocked", reason: "not_maker" });
    });

    it("wrong arguments are refused as everything else is", async () => {
      const nft = { contract: contracts.punks, tokenId: 1n };
      const mistakes = [
        () => alice.trader.buy([nft]),
        () => alice.trader.accept(nft),
        () => alice.trader.wrap({ wei: 0n }),
      ];
      for (const make of mistakes)
        await expect(make()).rejects.toMatchObject({
          ...{ name: "WalletError", code: "blocked", reason: "invalid_parameters" },
        });
      const noId = alice.api.get("/v1/listings/{askId}", { askId: "" });
      await expect(noId).rejects.toMatchObject({
        ...{ name: "MarketError", code: "invalid_parameters", status: 0 },
        details: [{ field: "askId" }],
      });
    });

    it("coins are wrapped into what bids are paid in", async () => {
      const frank = openCaller(testChain, "frank");
      const held = () =>
        testChain.client.readContract({
          address: testChain.currency,
          abi: erc20Abi,
          functionName: "balanceOf",
          args: [frank.account.address],
        });
      const before = await held();
      const plan = await frank.trader.wrap({ wei: parseEther("0.25") });
      expect(statesOf(plan)).toEqual(["wrap done", "confirm done"]);
      expect((await held()) - before).toBe(parseEther("0.25"));
    });

    it("a listing is relisted: cheaper without a transaction, dearer after a cancel", async () => {
      const nft = await mintPunk(testChain, "alice");
      const first = postedId(await alice.trader.list([orderRequest(nft, "2")]));
      const cheaper = await alice.trader.relist([{ askId: first, unitPriceWei: parseEther("1") }]);
      expect(cheaper.steps.some(({ kind }) => kind === "send")).toBe(false);
      const second = postedId(cheaper);
      await becomes("listings", second, "active");
      const dearer = await alice.trader.relist([{ askId: second, unitPriceWei: parseEther("3") }], {
        cancel: "cheaper",
      });
      // The first one, still signed, is cheaper than the new one too.
      const [sync] = dearer.steps.filter((step) => step.kind === "sync");
      expect(sync?.orders.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted());
      expect(sync?.statuses).toEqual(["cancelled", "cancelled"]);
      await becomes("listings", postedId(dearer), "active");
    });

    it("a wallet contract lists by its owner's signature, each order by one of its own", async () => {
      const { wallet } = testChain.actors;
      const nfts: Nft[] = [0, 1].map(() => ({
        ...{ standard: "erc721", contract: contracts.punks },
        tokenId: takeIds(1n),
      }));
      for (const nft of nfts) await wallet.mints(nft);
      await wallet.revokes(contracts.punks);
      const owner = openCaller(testChain, "alice", { maker: wallet.address });
      const items = nfts.map((nft) => orderRequest(nft, "1"));
      const stopped = await owner.trader.plan.list(items);
      await expect(owner.trader.run(stopped)).rejects.toMatchObject({
        code: "blocked",
        reason: "contract_account",
      });
      await wallet.approves(contracts.punks);
      const plan = await owner.trader.run(stopped);
      expect(owner.signed.orders).toBe(2);
      expect(await owner.trader.calls(plan)).toEqual([]);
      const results = plan.steps.flatMap((step) => (step.kind === "post" ? step.results : []));
      // The revocation may be recorded after the order, whose maker had approved again by then.
      await untilDerived(testChain);
      const bought = await bob.trader.buy(results.map(({ id = "" }) => ({ askId: id })));
      expect(bought.steps.every(({ state }) => state === "done")).toBe(true);
    });

    it("a wallet contract cancels by calls that it executes itself", async () => {
      const { wallet } = testChain.actors;
      const nft: Nft = { standard: "erc721", contract: contracts.punks, tokenId: takeIds(1n) };
      await wallet.mints(nft);
      await wallet.approves(contracts.punks);
      await untilDerived(testChain);
      const owner = openCaller(testChain, "alice", { maker: wallet.address });
      const askId = postedId(await owner.trader.list([orderRequest(nft, "1")]));
      const plan = await owner.trader.plan.cancel({ askIds: [askId] });
      await expect(owner.trader.run(plan)).rejects.toMatchObject({ reason: "contract_account" });
      for (const call of await owner.trader.calls(plan)) await wallet.transact(call);
      await becomes("listings", askId, "cancelled");
      const [all] = await owner.trader.calls(await owner.trader.plan.cancel({ all: true }));
      expect(all).toMatchObject({ to: seaportAddresses["1.6"], valueWei: 0n });
    });

    it("approves only what is missing", async () => {
      const grace = openCaller(testChain, "grace");
      await testChain.actors.grace.revokes(contracts.punks);
      const contractsToSell = { contracts: [contracts.punks], offersWei: 5n };
      const plan = await grace.trader.approve(contractsToSell);
      const again = await grace.trader.plan.approve(contractsToSell);
      expect(plan.steps.at(0)?.state).toBe("done");
      expect(
        again.steps.flatMap((step) => (step.kind === "approve" ? step.isApproved : [])),
      ).toEqual([true, true]);
      expect(statesOf(await grace.trader.run(again)).join()).not.toContain("done");
    });
  });
}
