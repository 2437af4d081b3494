import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { rpcUnavailable } from "#projections/domain/intake-codes.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import { type BatchSettings, type ChainResults, queryChain } from "#jobs/chain/query-chain.ts";
import type { IntakeRejection } from "../market/admission.ts";
import { readStoredRoyalties } from "../market/royalty.ts";
import type { PendingOrder } from "./pending-order.ts";
import type { StoredContext } from "./read-stored-context.ts";
import { rejectContractSignature, validateUnsigned } from "./validate-order.ts";

type Signers = {
  client: ChainClient;
  db: Database;
  stored: StoredContext;
  basis: NonNullable<BatchSettings["basis"]>;
  settings: BatchSettings;
};

/**
 * Rejects orders that nobody signed, before any contract is asked about what they name: only whether their makers are
 * accounts without code is asked, and the exchange whether they validated the order there; then contracts whether they
 * accept the signature.
 */
export async function rejectUnsigned(
  signers: Signers,
  chainId: ChainId,
  pendingOrders: readonly PendingOrder[],
): Promise<Map<PendingOrder, IntakeRejection>> {
  const unverified = pendingOrders.filter((one) => one.signatureCheck.signedBy !== "maker");
  if (unverified.length === 0) return new Map();
  const { client, basis, settings } = signers;
  const first = unverified.flatMap((one) => [codeQuery(one), statusQuery(one)]);
  const codes = await queryChain(client, first, { basis, ...settings });
  const wallets = unverified.filter((one) => codes.find(codeQuery(one))?.hasCode);
  const asked = { ...settings, basis };
  const verdicts =
    wallets.length === 0 ? null : await queryChain(client, wallets.map(signatureQuery), asked);
  const faults = unverified.flatMap((one) => {
    const fault = signatureFault(one, codes, verdicts);
    return fault === null ? [] : [{ pending: one, fault }];
  });
  const cases = faults.flatMap(({ pending }) => caseOf(pending, signers.stored) ?? []);
  const royalties = await readStoredRoyalties(signers.db, chainId, cases);
  const known = new Map(cases.map((one, place) => [one, royalties[place] ?? null]));
  return new Map(
    faults.map(({ pending, fault }) => {
      const royaltyCase = caseOf(pending, signers.stored);
      const royalty = royaltyCase === undefined ? null : (known.get(royaltyCase) ?? null);
      return [pending, validateUnsigned(pending, royalty, fault)];
    }),
  );
}

const caseOf = ({ order }: PendingOrder, { royaltyCases }: StoredContext) =>
  royaltyCases.get(order.orderHash);

const codeQuery = ({ order }: PendingOrder) =>
  ({ kind: "code", address: order.components.offerer }) as const;

const statusQuery = ({ order: { orderHash } }: PendingOrder) =>
  ({ kind: "order_status_read", orderHash }) as const;

function signatureQuery({ order: { orderHash, components, signature } }: PendingOrder) {
  const maker = components.offerer;
  const order = { components, signature };
  return { kind: "signature_read", orderHash, maker, order } as const;
}

/** Null: no signature is needed, the maker's code accepts it or has not answered: the order's state decides. */
function signatureFault(
  pending: PendingOrder,
  codes: ChainResults,
  verdicts: ChainResults | null,
): IntakeRejection | null {
  const { signatureCheck } = pending;
  if (signatureCheck.signedBy === "maker") return null;
  if (codes.find(statusQuery(pending))?.validated) return null;
  const hasCode = codes.find(codeQuery(pending))?.hasCode;
  if (hasCode === undefined) return rpcUnavailable("whether the maker is a contract");
  if (!hasCode) return signatureCheck.rejection;
  const isRefused = verdicts?.find(signatureQuery(pending))?.valid === false;
  return isRefused ? rejectContractSignature(pending.order.components.offerer) : null;
}
