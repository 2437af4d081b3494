import { zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import type { IntakeCode } from "../intake-codes.ts";
import { contract, maker, stranger } from "./orders.fixture.ts";
import {
  type BidState,
  isCollectionKnown,
  type ListingState,
  validateBidState,
  validateListingState,
  validatePriceRaise,
} from "./validate-state.ts";

const unit = { maker, contract, tokenId: 9n, quantity: 1n, unitPriceWei: 100n } as const;
const listing = { ...unit, side: "ask", standard: "erc721" } as const;
const editionListing = { ...listing, standard: "erc1155", quantity: 3n } as const;
const bid = { ...unit, side: "bid", standard: "erc721" } as const;
const collectionBid = { ...bid, tokenId: null, quantity: 4n } as const;

const unseen = { cancelled: false, filled: 0n, size: 0n };
const dead = "0x000000000000000000000000000000000000dead";

const ownedState: ListingState = {
  collectionKnown: true,
  standard: "erc721",
  owner: maker,
  isBurned: false,
  units: undefined,
  approved: true,
  channelOpen: true,
  status: unseen,
  transferAllowed: true,
};
const heldState: ListingState = { ...ownedState, standard: "erc1155", owner: undefined, units: 3n };
const fundedState: BidState = {
  collectionKnown: true,
  standard: "erc721",
  owner: stranger,
  isBurned: false,
  status: unseen,
  balanceWei: 100n,
  allowanceWei: 150n,
  openBidsWei: 50n,
};

describe("validateListingState", () => {
  it.each<[string, IntakeCode | null, Partial<ListingState>]>([
    ["nothing is wrong", null, {}],
    ["the collection is not served", "unknown_collection", { collectionKnown: false }],
    ["the contract used up its gas", "rpc_unavailable", { collectionKnown: undefined }],
    ["the contract is of the other standard", "token_standard_mismatch", { standard: "erc1155" }],
    ["the contract does not report a standard", null, { standard: undefined }],
    ["there is no such token", "token_not_found", { owner: null }],
    ["the owner was not read", "rpc_unavailable", { owner: undefined }],
    ["the approval was not read", "rpc_unavailable", { approved: undefined }],
    ["the log saw the token burned", "token_burned", { owner: null, isBurned: true }],
    ["a burned token was minted again", null, { isBurned: true }],
    ["the token was sent to the zero address", "token_burned", { owner: zeroAddress }],
    ["the token was sent to where tokens are burned", "token_burned", { owner: dead }],
    ["somebody else owns the token", "not_owner", { owner: stranger }],
    ["the conduit is not approved", "not_approved", { approved: false }],
    ["the conduit is closed", "conduit_channel_closed", { channelOpen: false }],
    ["it is cancelled", "order_cancelled", { status: { ...unseen, cancelled: true } }],
    ["it is filled", "order_filled", { status: { ...unseen, filled: 1n, size: 1n } }],
    ["the token does not move", "transfer_restricted", { transferAllowed: false }],
    ["it is unknown whether the token is transferable", null, { transferAllowed: undefined }],
  ])("of a token, when %s, answers %s", (_, code, state) => {
    expect(validateListingState(listing, { ...ownedState, ...state })?.rejected ?? null).toBe(code);
  });

  it.each<[string, IntakeCode | null, Partial<ListingState>]>([
    ["the maker holds as many", null, {}],
    ["the maker holds more", null, { units: 2n ** 255n }],
    ["the maker holds fewer", "insufficient_quantity", { units: 2n }],
    ["the maker holds none", "not_owner", { units: 0n }],
    ["the balance was not read", "rpc_unavailable", { units: undefined }],
    ["it is filled in part", null, { status: { cancelled: false, filled: 2n, size: 3n } }],
    ["it is filled", "order_filled", { status: { cancelled: false, filled: 3n, size: 3n } }],
  ])("of units, when %s, answers %s", (_, code, state) => {
    expect(validateListingState(editionListing, { ...heldState, ...state })?.rejected ?? null).toBe(
      code,
    );
  });

  it("answers the first of several faults, in the order of the table", () => {
    const faults: [Partial<ListingState>, IntakeCode][] = [
      [{ collectionKnown: false }, "unknown_collection"],
      [{ standard: "erc1155" }, "token_standard_mismatch"],
      [{ owner: stranger }, "not_owner"],
      [{ approved: false }, "not_approved"],
      [{ channelOpen: false }, "conduit_channel_closed"],
      [{ status: { cancelled: true, filled: 1n, size: 1n } }, "order_cancelled"],
      [{ status: { cancelled: false, filled: 1n, size: 1n } }, "order_filled"],
      [{ transferAllowed: false }, "transfer_restricted"],
    ];

    const answers = faults.map((_, first) => {
      const left = faults.slice(first).map(([state]) => state);
      const state: ListingState = Object.assign({}, ownedState, ...left.reverse());
      return validateListingState(listing, state)?.rejected;
    });

    expect(answers).toEqual(faults.map(([, code]) => code));
  });
});

describe("isCollectionKnown", () => {
  it("is unknown only where the contract alone could tell, and gave no answer", () => {
    const asked = [undefined, { standard: null }, { standard: "erc721" as const }];
    const answers = [true, false].flatMap((isRecorded) =>
      [true, false].map((indexesAllContracts) =>
        asked.map((declared) => isCollectionKnown({ isRecorded, indexesAllContracts, declared })),
      ),
    );
    expect(answers).toEqual([
      [true, true, true],
      [true, true, true],
      [undefined, false, true],
      [false, false, false],
    ]);
  });
});

describe("validateBidState", () => {
  it.each<[string, IntakeCode | null, Partial<BidState>]>([
    ["balance and allowance are exact", null, {}],
    ["the collection is not served", "unknown_collection", { collectionKnown: false }],
    ["the contract is of the other standard", "token_standard_mismatch", { standard: "erc1155" }],
    ["there is no such token", "token_not_found", { owner: null }],
    ["the owner was not read", null, { owner: undefined }],
    ["the log saw the token burned", "token_burned", { owner: null, isBurned: true }],
    ["the token is burned", "token_burned", { owner: dead }],
    ["the balance is 1 wei short", "insufficient_balance", { balanceWei: 99n }],
    ["open bids use the allowance up", "insufficient_allowance", { openBidsWei: 51n }],
    ["the allowance is 1 wei short", "insufficient_allowance", { allowanceWei: 149n }],
    [
      "open bids exceed the balance, this one does not",
      null,
      { openBidsWei: 50n, balanceWei: 100n },
    ],
    ["it is cancelled", "order_cancelled", { status: { ...unseen, cancelled: true } }],
    ["it is filled", "order_filled", { status: { ...unseen, filled: 7n, size: 7n } }],
    ["the bidder owns the token", "self_offer", { owner: maker }],
  ])("on a token, when %s, answers %s", (_, code, state) => {
    expect(validateBidState(bid, { ...fundedState, ...state })?.rejected ?? null).toBe(code);
  });

  it("on a collection wants funds for every unit and does not ask about one token", () => {
    const state = { ...fundedState, owner: undefined, balanceWei: 400n, allowanceWei: 450n };

    expect(validateBidState(collectionBid, state)).toBeNull();
    expect(validateBidState(collectionBid, { ...state, balanceWei: 399n })?.rejected).toBe(
      "insufficient_balance",
    );
  });

  it("says how much allowance is needed, open bids counted", () => {
    const refused = validateBidState(bid, { ...fundedState, allowanceWei: 0n });

    expect(refused?.message).toContain("to spend 150 wei, 50 of it for open bids, and allows 0");
  });
});

describe("validatePriceRaise", () => {
  const own = (unitPriceWei: bigint) => ({ orderHash: "0xabc", unitPriceWei }) as const;

  it("rejects a listing above the price of the maker's own open listing", () => {
    expect(validatePriceRaise(listing, own(99n))?.rejected).toBe("raise_requires_cancel");
  });

  it.each([
    ["the same price", listing, own(100n)],
    ["a lower price", listing, own(101n)],
    ["no listing beside", listing, null],
    ["units of an edition, which may be listed at several prices", editionListing, own(1n)],
  ])("allows %s", (_, order, beside) => {
    expect(validatePriceRaise(order, beside)).toBeNull();
  });
});
