import { commonConduit, conduitController, seaport } from "../../../abis/deployments.ts";
import { conduitAbi, seaportFunctions } from "../../../abis/seaport.ts";
import { encodeCall } from "./encode-call.ts";
import { oneCall, wordOf } from "./query-kind.ts";

const exchange = seaport["1.6"];

export const orderStatusReader = oneCall<"order_status_read">(
  ({ orderHash }) => ({
    to: exchange,
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "getOrderStatus",
      args: [orderHash],
    }),
  }),
  (question, outcome) => {
    const [cancelled, filled, size] = [1, 2, 3].map((index) => wordOf(outcome, index));
    if (cancelled === undefined || filled === undefined || size === undefined) return undefined;
    return { ...question, cancelled: cancelled === 1n, filled, size };
  },
);

export const counterReader = oneCall<"counter_read">(
  ({ maker }) => ({
    to: exchange,
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "getCounter",
      args: [maker],
    }),
  }),
  (question, outcome) => {
    const counter = wordOf(outcome);
    return counter === undefined ? undefined : { ...question, counter };
  },
);

/** The conduit's controller refuses for a conduit that does not exist. */
export const channelReader = oneCall<"channel_read">(
  () => ({
    to: conduitController,
    data: encodeCall({
      abi: conduitAbi,
      functionName: "getChannelStatus",
      args: [commonConduit.address, exchange],
    }),
  }),
  (question, outcome) => {
    if ("refused" in outcome) return { ...question, open: false };
    const open = wordOf(outcome);
    return open === undefined ? undefined : { ...question, open: open === 1n };
  },
);
