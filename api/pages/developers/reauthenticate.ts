import { readSecondFactor } from "#api/accounts/second-factor.ts";
import { isRecent, reauthenticate } from "#api/accounts/sign-in.ts";
import { readWallets, reauthenticateByWallet } from "#api/accounts/wallets.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, codeField, field } from "./form.ts";
import {
  type Developers,
  type DeveloperVisit,
  developerLayout,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";
import { proofNames, signedOf, walletButton } from "./wallet-section.ts";

/** Fields of the proof; those of the form itself are sent along. */
const proofFields = { password: "proof-password", code: "proof-code" } as const;

/**
 * A form that needs a recent proof of who sends it. Without one the answer asks for it, and sends the form again with
 * it. `downloads`: a file answers the form.
 */
export const afterProof =
  (handle: SignedInHandler, { downloads = false } = {}): SignedInHandler =>
  async (developers, visit, signedIn) => {
    const { accounts } = developers;
    const { session } = signedIn;
    if (isRecent(accounts, session)) return await handle(developers, visit, signedIn);
    const given = {
      password: visit.field(proofFields.password),
      code: visit.field(proofFields.code),
    };
    const signed = signedOf(visit, "proof");
    if (given.password === "" && given.code === "" && signed.message === "") {
      return { page: await proofPage(developers, visit, signedIn, { downloads }), status: 401 };
    }
    const refused =
      signed.message === ""
        ? await reauthenticate(accounts, session, given)
        : await reauthenticateByWallet(accounts, session, signed, visit.visitor.address);
    if (refused === null) return await handle(developers, visit, signedIn);
    const page = await proofPage(developers, visit, signedIn, {
      downloads,
      error: refused.message,
    });
    return isRejection(refused) ? refusalReply(refused, page) : { page };
  };

async function proofPage(
  developers: Developers,
  visit: DeveloperVisit,
  signedIn: SignedIn,
  { downloads, error }: { downloads: boolean; error?: string },
): Promise<Html> {
  const { formToken } = signedIn;
  const { reauthenticationMinutes } = developers.accounts;
  const proofs: readonly string[] = [...Object.values(proofFields), ...proofNames];
  const sent = [...visit.fields].filter(([name]) => name !== "form" && !proofs.includes(name));
  const title = "Confirm that it is you";
  const body = html`<h1>${title}</h1>
<p class="lead">The last proof is more than ${reauthenticationMinutes} minutes old.</p>
<form class="card stack" method="post" action="${visit.path}"${downloads && html` data-downloads`} novalidate>
<input type="hidden" name="form" value="${formToken}">
${sent.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${await proofFieldsOf(developers, signedIn, error)}
</form>
<p class="below"><a href="/developers">Cancel</a></p>`;
  return developerLayout({ title, body, signedIn });
}

/** A code where there is a second factor; else the password, or a wallet of the account. */
async function proofFieldsOf(
  developers: Developers,
  { session: { accountId, email } }: SignedIn,
  error: string | undefined,
): Promise<Html> {
  const { db } = developers.accounts;
  const { isOn } = await readSecondFactor(db, accountId);
  const go = html`<button class="primary">Continue</button>`;
  if (isOn) return html`${codeField(proofFields.code, error)}${go}`;
  const wallets = await readWallets(db, accountId);
  const byWallet = wallets.length > 0 && walletButton("Sign with your wallet", developers, "proof");
  if (email === null) return html`${alert(error)}${byWallet}`;
  return html`<input class="unseen" type="email" value="${email}" autocomplete="username" readonly tabindex="-1" aria-label="Account">
${field({ name: proofFields.password, label: "Password", type: "password", autocomplete: "current-password", error, hasFocus: true })}
${go}
${byWallet}`;
}
