export type { ChainId } from "./chains.ts";
export type { components, ErrorCode, paths } from "./document.ts";
export type { Book, BookOptions } from "./feed/book.ts";
export type { Feed, FeedOptions } from "./feed/feed.ts";
export type { MarketEvent } from "./feed/transport.ts";
export { type CallOptions, type Market, type MarketOptions, market } from "./market.ts";
export { type ClientCode, type ErrorDetail, MarketError } from "./market-error.ts";
export type {
  AnswerWith,
  FieldsOf,
  FieldsPath,
  GetAnswer,
  GetParams,
  GetPath,
  PagedPath,
  PostAnswer,
  PostParams,
  PostPath,
  RowOf,
  RowWith,
} from "./paths.ts";
export type { Page, Pages, PagesOptions } from "./reading/pages.ts";
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type Webhook,
  WebhookError,
  type WebhookMessage,
  type WebhookRefusal,
  type WebhookRequest,
} from "./webhooks/verify-webhook.ts";
