import { commonConduit, conduitController, seaport } from "#abis/deployments.ts";
import { conduitAbi, seaportFunctions } from "#abis/seaport.ts";
import { encodeCall } from "./encode-call.ts";
import { singleCallCodec, wordOf } from "./query-codec.ts";

const exchange = seaport["1.6"];

export const orderStatusCodec = singleCallCodec<"order_status_read">(
  ({ orderHash }) => ({
    to: exchange,
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "getOrderStatus",
      args: [orderHash],
    }),
  }),
  (query, outcome) => {
    const [validated, cancelled, filled, size] = [0, 1, 2, 3].map((index) =>
      wordOf(outcome, index),
    );
    if (cancelled === undefined || filled === undefined || size === undefined) return undefined;
    return { ...query, validated: validated === 1n, cancelled: cancelled === 1n, filled, size };
  },
);

export const counterCodec = singleCallCodec<"counter_read">(
  ({ maker }) => ({
    to: exchange,
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "getCounter",
      args: [maker],
    }),
  }),
  (query, outcome) => {
    const counter = wordOf(outcome);
    return counter === undefined ? undefined : { ...query, counter };
  },
);

/** The conduit controller reverts for a conduit that does not exist. */
export const channelCodec = singleCallCodec<"channel_read">(
  () => ({
    to: conduitController,
    data: encodeCall({
      abi: conduitAbi,
      functionName: "getChannelStatus",
      args: [commonConduit.address, exchange],
    }),
  }),
  (query, outcome) => {
    if ("reverted" in outcome) return { ...query, open: false };
    const open = wordOf(outcome);
    return open === undefined ? undefined : { ...query, open: open === 1n };
  },
);
