import type { BrowserContext } from "playwright-core";
import {
  type Address,
  concatHex,
  encodeFunctionData,
  encodePacked,
  type Hex,
  hashTypedData,
  type LocalAccount,
  parseAbi,
  size,
  zeroAddress,
} from "viem";
import { accounts } from "#devnet/accounts.ts";
import { until } from "../database/pipeline.ts";
import type { Person, TestChain } from "../orders/test-chains.ts";
import { exposeWallet, type WalletRequest } from "./injected-wallet.ts";
import { deploySafe, deploySafePart } from "./safe.ts";

/** A Safe, and how its wallet answers pages. */
export type SafeWallet = {
  readonly safe: Address;
  /** How often its wallet was asked to sign and to send. */
  readonly asked: { signatures: number; transactions: number };
  /** Resolves when there is something for the other owners. */
  untilAsked(): Promise<unknown>;
  /** The other owners sign what is there: messages are complete, transactions are carried out. */
  othersAgree(): Promise<void>;
  /** They never will. */
  othersReject(): void;
  /** Called when something is proposed, before the page hears of it. */
  beforeAnswers(act: () => unknown): void;
};

type Opening = {
  readonly owners: readonly Person[];
  /** Whether it takes several calls (EIP-5792); else it returns the hash of the Safe's transaction as if it were one. */
  readonly takesCalls?: boolean;
  /** Whether orders are signed by a transaction, so that the signature is empty. */
  readonly signsOnChain?: boolean;
};

type Call = { readonly to: Address; readonly value?: Hex; readonly data?: Hex };
type Proposal = {
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
  readonly operation: 0 | 1;
  /** Of the chain, once it is mined. */
  mined?: Hex;
  isRejected?: boolean;
};

const safeAbi = parseAbi([
  "function nonce() view returns (uint256)",
  "function getTransactionHash(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, uint256 nonce) view returns (bytes32)",
  "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)",
  "function multiSend(bytes transactions) payable",
  "function signMessage(bytes data)",
]);
const noRefund = [0n, 0n, 0n, zeroAddress, zeroAddress] as const;

/** A Safe of two or more owners, all of whom must sign, with the wallet of the first in the pages of the context. */
export async function injectSafe(
  context: BrowserContext,
  { client, chainId }: TestChain,
  { owners, takesCalls = true, signsOnChain = false }: Opening,
): Promise<SafeWallet> {
  const held = owners
    .map((person): LocalAccount => accounts[person])
    .toSorted((one, other) => (one.address.toLowerCase() < other.address.toLowerCase() ? -1 : 1));
  const addresses = held.map(({ address }) => address);
  const safe = await deploySafe(client, addresses, held.length);
  const multiSend = await deploySafePart(
    client,
    "libraries/MultiSendCallOnly.sol/MultiSendCallOnly",
  );
  const signMessage = await deploySafePart(client, "libraries/SignMessageLib.sol/SignMessageLib");
  const asked = { signatures: 0, transactions: 0 };
  const proposals = new Map<Hex, Proposal>();
  const signatures = new Map<Hex, Hex>();
  /** Signatures that others are to add to. */
  let messages: (() => void)[] = [];
  let act = (): unknown => undefined;

  const signAll = async (hash: Hex): Promise<Hex> =>
    concatHex(await Promise.all(held.map((owner) => owner.sign?.({ hash }) ?? "0x")));

  async function propose(proposal: Proposal): Promise<Hex> {
    const { to, value, data, operation } = proposal;
    const read = { address: safe, abi: safeAbi } as const;
    const nonce = await client.readContract({ ...read, functionName: "nonce" });
    const args = [to, value, data, operation, ...noRefund, nonce] as const;
    const hash = await client.readContract({ ...read, functionName: "getTransactionHash", args });
    proposals.set(hash, proposal);
    await act();
    return hash;
  }

  async function execute(hash: Hex, proposal: Proposal): Promise<void> {
    const { to, value, data, operation } = proposal;
    const args = [to, value, data, operation, ...noRefund, await signAll(hash)] as const;
    const mined = await client.writeContract({
      ...{ account: accounts.deployer, chain: client.chain, address: safe, abi: safeAbi },
      ...{ functionName: "execTransaction", args },
    });
    await client.waitForTransactionReceipt({ hash: mined });
    proposal.mined = mined;
  }

  function together(calls: readonly Call[]): Proposal {
    const [only, ...others] = calls.map(({ to, value = "0x0", data = "0x" }) => ({
      ...{ to, value: BigInt(value), data },
    }));
    if (only === undefined) throw new Error("no calls");
    if (others.length === 0) return { ...only, operation: 0 };
    const packed = [only, ...others].map(({ to, value, data }) =>
      encodePacked(
        ["uint8", "address", "uint256", "uint256", "bytes"],
        [0, to, value, BigInt(size(data)), data],
      ),
    );
    const args = [concatHex(packed)] as const;
    const data = encodeFunctionData({ abi: safeAbi, functionName: "multiSend", args });
    return { to: multiSend, value: 0n, data, operation: 1 };
  }

  /** Of a message that all have signed; before that, when they have. */
  async function signatureOf(digest: Hex): Promise<Hex> {
    if (signsOnChain) {
      const args = [digest] as const;
      const data = encodeFunctionData({ abi: safeAbi, functionName: "signMessage", args });
      await propose({ to: signMessage, value: 0n, data, operation: 1 });
      return "0x";
    }
    const known = signatures.get(digest);
    if (known !== undefined) return known;
    await new Promise<void>((resolve) => messages.push(resolve));
    const SafeMessage = [{ name: "message", type: "bytes" }];
    const signed = await signAll(
      hashTypedData({
        ...{ domain: { chainId, verifyingContract: safe }, types: { SafeMessage } },
        ...{ primaryType: "SafeMessage", message: { message: digest } },
      }),
    );
    signatures.set(digest, signed);
    return signed;
  }

  async function statusOf(id: Hex) {
    const proposal = proposals.get(id);
    // As its wallet says, without a code of EIP-5792.
    if (proposal === undefined) throw new Error("Transaction not found");
    if (proposal.isRejected) return { status: 400 };
    if (proposal.mined === undefined) return { status: 100 };
    const request = { method: "eth_getTransactionReceipt", params: [proposal.mined] };
    return { status: 200, receipts: [await client.request(request as never)] };
  }

  const answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_requestAccounts: () => [safe],
    eth_accounts: () => [safe],
    eth_signTypedData_v4: ([, text]) => {
      asked.signatures += 1;
      return signatureOf(hashTypedData(JSON.parse(String(text))));
    },
    eth_sendTransaction: (params) => {
      asked.transactions += 1;
      return propose(together(params as Call[]));
    },
    wallet_getCapabilities: () =>
      takesCalls ? { [`0x${chainId.toString(16)}`]: { atomic: { status: "supported" } } } : {},
    // Its id is its own, whatever the page wants.
    wallet_sendCalls: async ([batch]) => {
      asked.transactions += 1;
      return { id: await propose(together((batch as { calls: Call[] }).calls)) };
    },
    wallet_getCallsStatus: ([id]) => statusOf(id as Hex),
  };
  const answer = async ({ method, params = [] }: WalletRequest): Promise<unknown> =>
    answers[method]?.(params) ?? client.request({ method, params } as never);
  await exposeWallet(context, answer);
  const openProposals = () =>
    [...proposals].filter(([, { mined, isRejected }]) => mined === undefined && !isRejected);
  const untilAsked = () =>
    until("the Safe's wallet to be asked", async () => {
      return messages.length + openProposals().length > 0;
    });
  return {
    ...{ safe, asked, untilAsked },
    async othersAgree() {
      await untilAsked();
      for (const [hash, proposal] of openProposals()) await execute(hash, proposal);
      for (const resolve of messages) resolve();
      messages = [];
    },
    othersReject() {
      for (const [, proposal] of openProposals()) proposal.isRejected = true;
    },
    beforeAnswers(given) {
      act = given;
    },
  };
}
