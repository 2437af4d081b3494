import type { Account, Address, Hex, PublicClient, TypedDataDomain, WalletClient } from "viem";
import type { CallOptions, Market } from "../market.ts";
import type { Plan } from "./plan/plan.ts";
import { WalletError } from "./wallet-error.ts";

/** EIP-712 data as wallets take them. */
export type TypedData = {
  readonly domain: TypedDataDomain;
  readonly types: Readonly<Record<string, readonly { name: string; type: string }[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
};

export type SignTypedData = (data: TypedData) => Promise<Hex>;

/** What plans are made and run with. */
export type Clients = {
  readonly api: Market;
  readonly walletClient: WalletClient;
  readonly publicClient: PublicClient;
  readonly account: Account;
  /** Whose orders are made: the account, or a contract that it signs for. */
  readonly maker: Address;
  readonly signTypedData: SignTypedData;
};

/** Plans are about the chain of the API; the public client must see the same one. */
export async function checkChain({ api, publicClient }: Clients): Promise<void> {
  const chainId = await publicClient.getChainId();
  if (chainId === api.chainId) return;
  const message = `The public client is on chain ${chainId}, and not on ${api.chainId}`;
  throw new WalletError("wrong_chain", message);
}

/** Before a plan is run: everything is of its chain and its account. */
export async function checkClients(clients: Clients, plan: Plan): Promise<void> {
  const { api, walletClient, account, maker } = clients;
  const isTheirs =
    account.address.toLowerCase() === plan.account.toLowerCase() &&
    maker.toLowerCase() === plan.maker.toLowerCase();
  if (!isTheirs) {
    const message = `The plan is of ${plan.account} for ${plan.maker}, and the wallet is ${account.address} for ${maker}`;
    throw new WalletError("wrong_account", message);
  }
  const chainId = await walletClient.getChainId();
  if (api.chainId !== plan.chainId || chainId !== plan.chainId) {
    const message = `The plan is for chain ${plan.chainId}; the API's client is for ${api.chainId} and the wallet on ${chainId}: switch, then run the plan again`;
    throw new WalletError("wrong_chain", message);
  }
  await checkChain(clients);
}

/** Options of a call that can be aborted. */
export const callOptions = ({ signal }: { readonly signal?: AbortSignal }): CallOptions =>
  signal === undefined ? {} : { signal };
