import { type Address, zeroAddress } from "viem";
import type { ChainId } from "../../chains.ts";
import type { Clients } from "../clients.ts";
import { bidCurrency, conduit, exchange, formatAmount, isSame } from "../exchange.ts";
import { readAllowance, readIsApproved } from "../read-approvals.ts";
import { WalletError } from "../wallet-error.ts";
import type { OrderRef, PlannedAction, PlannedOrder } from "./actions.ts";
import { estimateGas } from "./estimate-gas.ts";
import type {
  ApproveStep,
  Call,
  Costs,
  Plan,
  RefusedItem,
  RevokeStep,
  Step,
  Verb,
} from "./plan.ts";

const free = { costs: { wei: "0", currency: zeroAddress, gasWei: "0" }, paysGas: false } as const;
const gasOnly = { ...free, paysGas: true } as const;

/** Steps of a plan in the making; ids are `<index>-<kind>`. */
export class Steps {
  readonly list: Step[] = [];
  /** Transactions by step, as far as they are known already. */
  readonly calls = new Map<string, Call>();

  #id = (kind: Step["kind"]) => `${this.list.length}-${kind}`;

  /** A transaction and the wait for it. */
  #confirm(of: string): void {
    const description = "Wait until the transaction is mined";
    this.list.push({
      id: this.#id("confirm"),
      kind: "confirm",
      description,
      ...free,
      state: "waiting",
      of,
    });
  }

  async approveTokens(clients: Clients, contracts: readonly Address[]): Promise<void> {
    const distinct = [...new Set(contracts.map((one) => one.toLowerCase() as Address))];
    const approved = await Promise.all(
      distinct.map((token) => readIsApproved(clients, token, conduit)),
    );
    for (const [index, token] of distinct.entries()) {
      const description = `Allow the marketplaces' conduit ${conduit} to move your tokens of ${token}`;
      const isApproved = approved[index] === true;
      this.#approve({ token, operator: conduit, amountWei: null, description, isApproved });
    }
  }

  /** Of an ERC-20 currency, to the exchange itself. */
  async approveAmount(clients: Clients, currency: Address, wei: bigint): Promise<void> {
    const most = formatAmount(clients.api.chainId, currency, wei);
    const description = `Allow the exchange ${exchange} to take up to ${most}`;
    const allowed = await readAllowance(clients, currency, exchange);
    const amount = { token: currency, operator: exchange, amountWei: `${wei}` };
    this.#approve({ ...amount, description, isApproved: allowed >= wei });
  }

  revokeTokens(token: Address): void {
    const description = `No longer allow the marketplaces' conduit ${conduit} to move your tokens of ${token}`;
    this.#revoke({ takes: "tokens", token, operator: conduit, description });
  }

  /** Of an ERC-20 currency, from the exchange itself. */
  revokeAmount(token: Address): void {
    const description = `No longer allow the exchange ${exchange} to take your money of ${token}`;
    this.#revoke({ takes: "money", token, operator: exchange, description });
  }

  #revoke(fields: Pick<RevokeStep, "takes" | "token" | "operator" | "description">): void {
    const id = this.#id("revoke");
    this.list.push({ id, kind: "revoke", ...gasOnly, state: "waiting", ...fields });
    this.#confirm(id);
  }

  /** Of the native coin, into the currency of bids. */
  wrap(chainId: ChainId, wei: bigint): void {
    const id = this.#id("wrap");
    const token = bidCurrency[chainId];
    const [native, wrapped] = [zeroAddress, token].map((one) => formatAmount(chainId, one, wei));
    const description = `Wrap ${native}: you get ${wrapped}`;
    const costs = { ...gasOnly.costs, wei: `${wei}` };
    this.list.push({ id, kind: "wrap", ...gasOnly, costs, state: "waiting", token, description });
    this.#confirm(id);
  }

  #approve(
    fields: Pick<ApproveStep, "token" | "operator" | "amountWei" | "description" | "isApproved">,
  ): void {
    const id = this.#id("approve");
    this.list.push({ id, kind: "approve", ...gasOnly, state: "waiting", ...fields });
    this.#confirm(id);
  }

  signAndPost(orders: readonly PlannedOrder[], bulk: "auto" | "single"): void {
    const id = this.#id("sign");
    const count = orders.length === 1 ? "the order" : `${orders.length} orders`;
    this.list.push({
      id,
      kind: "sign",
      description: `Sign ${count}`,
      ...free,
      state: "waiting",
      orders,
      bulk,
      signatures: [],
    });
    const post = {
      kind: "post",
      description: `Publish ${count}`,
      ...free,
      state: "waiting",
    } as const;
    this.list.push({ id: this.#id("post"), ...post, of: id, results: [] });
  }

  /** `call`: as the transaction would be now, to estimate its gas. */
  send(
    action: PlannedAction,
    description: string,
    touched: readonly OrderRef[],
    call?: Call,
  ): void {
    const id = this.#id("send");
    const costs = { ...gasOnly.costs, ...paidFor(action) };
    if (call !== undefined) this.calls.set(id, call);
    this.list.push({
      id,
      kind: "send",
      description,
      costs,
      paysGas: true,
      state: "waiting",
      action,
    });
    this.#confirm(id);
    if (touched.length === 0) return;
    const sync = { kind: "sync", description: "Update the order book", ...free } as const;
    const orders = { of: id, orders: touched, statuses: [] };
    this.list.push({ id: this.#id("sync"), ...sync, state: "waiting", ...orders });
  }
}

/** Both currencies of a sweep are worth the same: their sum, in native currency. */
function paidFor(action: PlannedAction): Partial<Costs> {
  if (action.name === "buy") return { wei: action.priceWei, currency: action.currency };
  if (action.name !== "sweep") return {};
  return { wei: `${action.items.reduce((sum, one) => sum + BigInt(one.priceWei), 0n)}` };
}

/** A plan of these steps; throws when everything that was requested is refused. */
export async function planOf(
  clients: Clients,
  verb: Verb,
  { list, calls }: Steps,
  refused: readonly RefusedItem[] = [],
): Promise<Plan> {
  const [first] = refused;
  const does = list.some(({ kind }) => kind !== "approve" && kind !== "confirm");
  if (first !== undefined && !does)
    throw new WalletError("blocked", first.message, { reason: first.code });
  const { api, account, maker } = clients;
  const { address } = account;
  const steps = await estimateGas(clients, list, calls);
  const head = { version: 1, verb, chainId: api.chainId, account: address, maker } as const;
  return { ...head, refused, steps };
}

/** Contracts sign, but their transactions are sent by themselves. */
export function demandOwnAccount({ account, maker }: Clients): void {
  if (isSame(account.address, maker)) return;
  const message = `${maker} is a contract: its transactions are sent by itself, not by ${account.address}; calls(plan) are what it has to execute`;
  throw new WalletError("blocked", message, { reason: "contract_account" });
}
