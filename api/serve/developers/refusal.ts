import type { Html } from "../html/html.ts";
import type { Reply } from "./page-handler.ts";

/** HTTP statuses of the rejection codes of forms. */
const statuses = {
  bad_email: 422,
  bad_password: 422,
  bad_name: 422,
  bad_scopes: 422,
  bad_expiry: 422,
  bad_networks: 422,
  wrong_email: 422,
  wrong_password: 401,
  wrong_code: 401,
  sign_in_again: 410,
  bad_link: 410,
  suspended: 403,
  no_such_key: 404,
  too_many_keys: 409,
  rate_limited: 429,
  busy: 503,
} as const;

type Refused = {
  readonly rejected: keyof typeof statuses;
  readonly message: string;
  readonly retryAfterSeconds?: number;
};

/** The page that shows a rejection, with its status. */
export function refusalReply({ rejected, retryAfterSeconds }: Refused, page: Html): Reply {
  const status = statuses[rejected];
  return retryAfterSeconds === undefined ? { page, status } : { page, status, retryAfterSeconds };
}
