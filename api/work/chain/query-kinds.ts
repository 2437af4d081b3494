import { codeReader, royaltyReader, standardReader } from "./contract-queries.ts";
import { channelReader, counterReader, orderStatusReader } from "./exchange-queries.ts";
import type { QuestionKind } from "./chain-query.ts";
import type { Reader } from "./query-kind.ts";
import { signatureReader } from "./signature-query.ts";
import { transferReader } from "./transfer-query.ts";
import {
  allowanceReader,
  approvalReader,
  balanceReader,
  ownerReader,
  unitsReader,
} from "./token-queries.ts";

/** How each kind of question is asked and its answer understood. */
export const readers: { readonly [Kind in QuestionKind]: Reader<Kind> } = {
  order_status_read: orderStatusReader,
  counter_read: counterReader,
  channel_read: channelReader,
  approval_read: approvalReader,
  owner_read: ownerReader,
  units_read: unitsReader,
  balance_read: balanceReader,
  allowance_read: allowanceReader,
  transfer_read: transferReader,
  signature_read: signatureReader,
  code: codeReader,
  standard: standardReader,
  royalty: royaltyReader,
};
