import { describe, expect, it } from "vitest";
import { parseStreamEvent, StreamMessage } from "./stream.ts";

/** docs.opensea.io, "Stream API Event Example Payloads": an item that is listed, what is not read left out. */
const listed = {
  event_type: "item_listed",
  payload: {
    base_price: "5000000000000000",
    collection: { slug: "boredfrens" },
    event_timestamp: "2022-12-01T16:54:23.974726+00:00",
    item: {
      chain: { name: "ethereum" },
      nft_id: "ethereum/0x495f947276749ce646f68ac8c248420045cb7b5e/1",
    },
    order_hash: "0xccbf2c8bc22d06fc16e118e5a865377d8b2fe4ea485cd0cb713899cca17d8964",
  },
};

/** docs.opensea.io, changelog "Validation Events Launched". */
const invalidated = {
  event_type: "order_invalidate",
  payload: {
    chain: { name: "ethereum" },
    collection: { slug: "pudgypenguins" },
    event_timestamp: "2023-06-02T19:47:50.950428+00:00",
    item: {},
    order_hash: "0xeb3f34e967bc969932d1c4b55c49d7160dc3fa2c899745f42dbe383b98f60ec0",
    protocol_address: "0x00000000000000adc04c56bf30ac9d3c0aaf14dc",
  },
};

describe("messages of OpenSea's Stream API", () => {
  it("comes as five parts, as its own client reads them", () => {
    const message = ["1", null, "collection:boredfrens", "item_listed", listed];
    expect(StreamMessage.safeParse(message).success).toBe(true);
    const reply = ["1", "1", "collection:boredfrens", "phx_reply", { status: "ok", response: {} }];
    expect(StreamMessage.safeParse(reply).success).toBe(true);
  });

  it("names the order and its chain, beside the item or within it", () => {
    expect(parseStreamEvent("item_listed", listed)).toEqual({
      ...{ chainId: 1, orderHash: listed.payload.order_hash, isNew: true },
    });
    expect(parseStreamEvent("order_invalidate", invalidated)).toEqual({
      ...{ chainId: 1, orderHash: invalidated.payload.order_hash, isNew: false },
    });
    const second = { ...listed.payload, chain: "ape_chain" };
    expect(parseStreamEvent("item_listed", { payload: second })).toMatchObject({ chainId: 33139 });
  });

  it("is left alone where it is of a chain that is none of ours", () => {
    const other = { ...invalidated.payload, chain: { name: "matic" } };
    expect(parseStreamEvent("order_invalidate", { payload: other })).toBeNull();
  });

  it("is reported with its path when it cannot be parsed", () => {
    const unread = (payload: unknown) => parseStreamEvent("item_listed", payload);
    const reason = "stream_malformed";
    expect(unread(null)).toMatchObject({ reason, path: "item_listed.(whole)" });
    expect(unread({ payload: { order_hash: "0x12" } })).toMatchObject({
      ...{ reason, path: "item_listed.payload.order_hash" },
    });
    const { order_hash } = listed.payload;
    expect(unread({ payload: { order_hash } })).toMatchObject({
      ...{ reason, path: "item_listed.payload.chain" },
    });
  });
});
