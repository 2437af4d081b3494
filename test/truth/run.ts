import type { ChainId } from "../../abis/deployments.ts";
import { contracts } from "../../devnet/contracts/addresses.ts";
import { type Disagreement, groupOf, judgeOrders } from "./judge.ts";
import { playMove } from "./moves.ts";
import { reorganizes } from "./reorg.ts";
import { catchUp, openStage, type Stage } from "./stage.ts";
import { nftOf, type StoredOrder } from "./stored-order.ts";

type Options = {
  chainId: ChainId;
  seed: number;
  /** An empty, migrated one. */
  databaseUrl: string;
  /** Judgements. */
  rounds: number;
  /** Between two looks of the service at the whole book. */
  sweepSeconds?: number;
  /** Told what happens, line by line. */
  tell: (line: string) => void;
};

export type Truth = {
  judgements: number;
  /** Orders judged, each as often as it was. */
  judged: number;
  /** Of them those that agreed at first sight. */
  atOnce: number;
  /** Those that agreed after the next look at the chain, by what nobody had told; and how long the slowest took. */
  late: Record<string, { orders: number; slowestMs: number }>;
  reorgs: number;
  /** How often a role had to be begun again. */
  restarts: number;
  /** The longest time until a chain was derived after a round. */
  slowestMs: number;
  /** How often each move was made, by what came of it. */
  moves: Record<string, number>;
  /** Lines for people. */
  disagreements: string[];
};

/** Within which the chain is looked at again, with time to spare on a busy machine. */
const sweepMs = 8_000;

/** Plays a random market through the whole service and judges every stored order again and again. */
export async function measureTruth(options: Options): Promise<Truth> {
  const stage = await openStage(options);
  const truth: Truth = {
    ...{
      judgements: 0,
      judged: 0,
      atOnce: 0,
      late: {},
      reorgs: 0,
      restarts: 0,
      slowestMs: 0,
      moves: {},
    },
    disagreements: [],
  };
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      const happened = await playRound(stage, truth);
      const ms = await catchUp(stage);
      truth.slowestMs = Math.max(truth.slowestMs, Math.round(ms));
      const wrong = await judge(stage, truth);
      options.tell(`${round}: ${happened.join("; ")} — ${stage.orders.length} orders`);
      for (const one of wrong) {
        const line = `round ${round}: ${describe(one)} (${happened.join("; ")})`;
        truth.disagreements.push(line);
        options.tell(`  ${line}`);
      }
    }
    truth.restarts = stage.restarts();
    return truth;
  } finally {
    await stage.stop();
  }
}

async function playRound(stage: Stage, truth: Truth): Promise<string[]> {
  const happened: string[] = [];
  const count = 1 + stage.random.below(10);
  for (let played = 0; played < count; played += 1) {
    const what = await playMove(stage);
    truth.moves[what] = (truth.moves[what] ?? 0) + 1;
    happened.push(what);
  }
  if (stage.random.below(6) === 0) {
    happened.push(await reorganizes(stage));
    truth.reorgs += 1;
  }
  return happened;
}

async function judge(stage: Stage, truth: Truth): Promise<Disagreement[]> {
  const { chainId, pipeline, market, clock, orders } = stage;
  const where = { chainId, baseUrl: pipeline.baseUrl, rpcUrl: market.anvil.rpcUrl };
  const look = (some: readonly StoredOrder[]) => judgeOrders(where, some, clock.now);
  let wrong = await look(orders);
  truth.judgements += 1;
  truth.judged += orders.length;
  truth.atOnce += orders.length - new Set(wrong.map(({ order }) => order.id)).size;
  const excused = new Map(wrong.map(({ order }) => [order.id, excuse(stage, order)]));
  const startedAt = performance.now();
  const deadline = startedAt + sweepMs;
  while (wrong.some(({ order }) => excused.get(order.id)) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = wrong.filter(({ order }) => excused.get(order.id));
    const again = await look(orders);
    const still = new Set(again.map(({ order }) => order.id));
    for (const id of new Set(before.map(({ order }) => order.id))) {
      const reason = excused.get(id);
      if (!reason || still.has(id)) continue;
      const { orders: known, slowestMs } = truth.late[reason] ?? { orders: 0, slowestMs: 0 };
      const ms = Math.round(performance.now() - startedAt);
      truth.late[reason] = { orders: known + 1, slowestMs: Math.max(slowestMs, ms) };
    }
    wrong = [...wrong.filter(({ order }) => !excused.get(order.id) || still.has(order.id))];
  }
  stage.unknownTraders.clear();
  stage.reorged = false;
  stage.judgedAt = clock.now();
  return wrong;
}

/** What nobody tells the service of, so that it may learn of it later; undefined: it has been told all about this order. */
function excuse(stage: Stage, order: StoredOrder): string | undefined {
  const { offerer } = order.components;
  if (order.side === "listings" && nftOf(order).contract === contracts.guarded)
    return "restriction";
  if (offerer === contracts.smartWallet) return "signature";
  if (order.side === "bids" && stage.unknownTraders.has(offerer)) return "unknown trade";
  if (hasMoment(stage, order)) return "moment";
  return stage.reorged ? "reorg" : undefined;
}

/** Whether an order of the same maker and token began or ended since the last judgement. */
function hasMoment({ orders, judgedAt, clock }: Stage, order: StoredOrder): boolean {
  const now = clock.now();
  const group = groupOf(order);
  return orders.some((one) => {
    if (groupOf(one) !== group) return false;
    const { startTime, endTime } = one.components;
    return [startTime, endTime].some(
      (moment) => Number(moment) >= judgedAt - 2 && Number(moment) <= now + 1,
    );
  });
}

function describe({ order, shown, because }: Disagreement): string {
  const { standard, contract, tokenId, quantity } = nftOf(order);
  const { offerer, startTime, endTime } = order.components;
  return [
    `${order.side} ${order.orderHash} of ${offerer}`,
    `for ${quantity} of ${standard} ${contract} ${tokenId}, ${startTime} to ${endTime},`,
    `is shown as ${shown.status} ${shown.reason ?? ""} ${shown.filled}+${shown.fillable}/${shown.remaining},`,
    `but ${because}`,
  ].join(" ");
}
