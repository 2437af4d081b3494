import { codeReader, royaltyReader, standardReader } from "./contract-readers.ts";
import { channelReader, counterReader, orderStatusReader } from "./exchange-readers.ts";
import type { QuestionKind } from "./questions.ts";
import type { Reader } from "./reader.ts";
import { signatureReader } from "./signature-oracle.ts";
import { transferReader } from "./simulate-transfer.ts";
import {
  allowanceReader,
  approvalReader,
  balanceReader,
  ownerReader,
  unitsReader,
} from "./token-readers.ts";

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
