import type { QueryKind } from "./chain-query.ts";
import { codeCodec, royaltyCodec, standardCodec } from "./contract-queries.ts";
import { channelCodec, counterCodec, orderStatusCodec } from "./exchange-queries.ts";
import type { QueryCodec } from "./query-codec.ts";
import { receiptCodec } from "./receipt-query.ts";
import { recipientsCodec } from "./recipients-query.ts";
import { signatureCodec } from "./signature-query.ts";
import {
  allowanceCodec,
  approvalCodec,
  balanceCodec,
  ownerCodec,
  tokenApprovalCodec,
  unitsCodec,
} from "./token-queries.ts";
import { transferCodec } from "./transfer-query.ts";

/** The codec of every kind of query. */
export const queryCodecs: { readonly [Kind in QueryKind]: QueryCodec<Kind> } = {
  order_status_read: orderStatusCodec,
  counter_read: counterCodec,
  channel_read: channelCodec,
  approval_read: approvalCodec,
  token_approval_read: tokenApprovalCodec,
  owner_read: ownerCodec,
  units_read: unitsCodec,
  balance_read: balanceCodec,
  allowance_read: allowanceCodec,
  transfer_read: transferCodec,
  signature_read: signatureCodec,
  recipients_read: recipientsCodec,
  receipt: receiptCodec,
  code: codeCodec,
  standard: standardCodec,
  royalty: royaltyCodec,
};
