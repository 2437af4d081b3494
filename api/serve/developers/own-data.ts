import { reject } from "#projections/domain/rejection.ts";
import { parseEmail } from "#api/accounts/stored-accounts.ts";
import { deleteAccount, exportAccount } from "#api/accounts/own-data.ts";
import { type Html, html } from "../html/html.ts";
import { showAccountWith } from "./account.ts";
import { layout } from "./layout.ts";
import type { SignedInHandler } from "./page-handler.ts";
import { refusalReply } from "./refusal.ts";

/** All of an account's rows at once: what may be asked for is bounded. */
export const submitExport: SignedInHandler = async (developers, _visit, signedIn) => {
  const { db, throttle } = developers.accounts;
  const { session } = signedIn;
  const refused = await throttle.countAttempts(["export account", `${session.accountId}`]);
  if (refused !== null) {
    const { message } = refused;
    return refusalReply(refused, await showAccountWith(developers, signedIn, { message }));
  }
  return { download: { name: "account.json", data: await exportAccount(db, session) } };
};

const wrongEmail = reject("wrong_email", "This is not the address of this account");

export const submitDeletion: SignedInHandler = async (developers, visit, signedIn) => {
  const { session } = signedIn;
  if (parseEmail(visit.field("email")) !== session.email) {
    const page = await showAccountWith(developers, signedIn, { badEmail: wrongEmail.message });
    return refusalReply(wrongEmail, page);
  }
  await deleteAccount(developers.accounts, session);
  return { page: deletedPage(), sessionToken: null };
};

function deletedPage(): Html {
  const title = "Your account is deleted";
  const body = html`<h1>${title}</h1>
<p class="notice" role="status">Everything that was stored of it is gone. Its keys and tokens no longer work.</p>`;
  return layout({ title, body });
}
