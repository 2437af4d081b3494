import type { PostAnswer } from "../../../paths.ts";
import { callOptions } from "../../clients.ts";
import { type PlannedCriteria, partsOf } from "../../criteria.ts";
import { type Posted, type PostStep, stepOf } from "../../plan/plan.ts";
import { WalletError, wrongArgument } from "../../wallet-error.ts";
import type { Run } from "../context.ts";

/** The most orders of a request, by side. */
const most = { ask: 100, bid: 50 };

/** Submits the signed orders; one that was submitted before keeps its id. Each has its own result. */
export async function runPost(run: Run, step: PostStep): Promise<"done"> {
  const signed = stepOf(run.plan, step.of);
  if (signed.kind !== "sign") throw wrongArgument(`${step.of} signs nothing`);
  const [first] = signed.orders;
  if (first === undefined) return "done";
  const orders = signed.orders.map(({ components, criteria }, index) => ({
    seaport: { parameters: components, signature: signed.signatures[index] ?? "0x" },
    ...(criteria && { criteria }),
  }));
  while (step.results.length < orders.length) {
    const part = firstPart(orders.slice(step.results.length), most[first.side]);
    const results = await postPart(run, first.side, part);
    if (results.length !== part.length)
      throw new WalletError("unsafe_answer", "The results are not those of the orders");
    await run.store(() => {
      step.results.push(...results);
    });
  }
  const refused = step.results.find(({ success }) => !success);
  if (refused === undefined || step.results.some(({ success }) => success)) return "done";
  await run.store(() => {
    step.results = [];
  });
  const message = `The order book rejects: ${refused.message}`;
  throw new WalletError("blocked", message, { reason: refused.code ?? null });
}

function firstPart(orders: Orders, count: number): Orders {
  for (const { part } of partsOf(orders, count, tokensOf)) return part;
  return [];
}

const tokensOf = ({ criteria }: Orders[number]) => criteria?.tokenIds.length ?? 0;

type Orders = readonly {
  readonly criteria?: PlannedCriteria;
  readonly seaport: { readonly parameters: object; readonly signature: string };
}[];
type Result = PostAnswer<"/v1/orders/asks/bulk">["data"]["results"][number] & { bidId?: string };

async function postPart(
  { api, options }: Run,
  side: "ask" | "bid",
  orders: Orders,
): Promise<Posted[]> {
  const { data } =
    side === "ask"
      ? await api.post("/v1/orders/asks/bulk", { listings: orders } as never, callOptions(options))
      : await api.post("/v1/orders/bids/bulk", { bids: orders } as never, callOptions(options));
  return data.results.map((result: Result): Posted => {
    const { success, message, orderHash, status, code } = result;
    const id = result.askId ?? result.bidId;
    return {
      success,
      message,
      ...(id !== undefined && { id }),
      ...(orderHash !== undefined && { orderHash }),
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
    };
  });
}
