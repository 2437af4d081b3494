import { sessionSubject } from "#api/accounts/passkeys.ts";
import { isOn, readSecondFactor } from "#api/accounts/second-factor.ts";
import { isRecent, reauthenticate } from "#api/accounts/sign-in.ts";
import { readWallets, reauthenticateByWallet } from "#api/accounts/wallets.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, field } from "./form.ts";
import {
  type Developers,
  type DeveloperVisit,
  developerLayout,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";
import { factorFields } from "./passkey-section.ts";
import { proofNames, signedOf, walletButton } from "./wallet-section.ts";

/** Fields of the proof; those of the form itself are sent along. */
const proofFields = {
  password: "proof-password",
  code: "proof-code",
  passkey: "proof-passkey",
} as const;

/**
 * A form that needs a recent proof of who sends it. Without one the answer asks for it, and sends the form again with
 * it. `downloads`: a file answers the form; `always`: also where the last proof is recent.
 */
export const afterProof =
  (handle: SignedInHandler, { downloads = false, always = false } = {}): SignedInHandler =>
  async (developers, visit, signedIn) => {
    const { accounts } = developers;
    const { session } = signedIn;
    if (!always && isRecent(accounts, session)) return await handle(developers, visit, signedIn);
    const given = {
      password: visit.field(proofFields.password),
      code: visit.field(proofFields.code),
      passkey: visit.field(proofFields.passkey),
    };
    const asks = { downloads, always };
    const signed = signedOf(visit, "proof");
    if (Object.values(given).every((one) => one === "") && signed.message === "") {
      return { page: await proofPage(developers, visit, signedIn, asks), status: 401 };
    }
    const refused =
      signed.message === ""
        ? await reauthenticate(accounts, session, given)
        : await reauthenticateByWallet(accounts, session, signed, visit.visitor.address);
    if (refused === null) return await handle(developers, visit, signedIn);
    return refusalReply(
      refused,
      await proofPage(developers, visit, signedIn, { ...asks, refused }),
    );
  };

async function proofPage(
  developers: Developers,
  visit: DeveloperVisit,
  signedIn: SignedIn,
  { downloads, always, refused }: { downloads: boolean; always: boolean; refused?: Rejection },
): Promise<Html> {
  const { formToken } = signedIn;
  const { reauthenticationMinutes } = developers.accounts;
  const proofs: readonly string[] = [...Object.values(proofFields), ...proofNames];
  const sent = [...visit.fields].filter(([name]) => name !== "form" && !proofs.includes(name));
  const title = "Confirm that it is you";
  const body = html`<h1>${title}</h1>
<p class="lead">${always ? "This needs a proof each time." : `The last proof is more than ${reauthenticationMinutes} minutes old.`}</p>
<form class="card stack" method="post" action="${visit.path}"${downloads && html` data-downloads`} novalidate>
<input type="hidden" name="form" value="${formToken}">
${sent.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${await proofFieldsOf(developers, visit, signedIn, refused)}
</form>
<p class="below"><a href="/developers">Cancel</a></p>`;
  return developerLayout({ title, body, signedIn });
}

/** The second factor where there is one; else the password, or a wallet of the account. */
async function proofFieldsOf(
  developers: Developers,
  visit: DeveloperVisit,
  { session }: SignedIn,
  refused: Rejection | undefined,
): Promise<Html> {
  const { db } = developers.accounts;
  const { accountId, email } = session;
  const error = refused?.message;
  if (isOn(await readSecondFactor(db, accountId))) {
    const asked = { accountId, subject: sessionSubject(session) };
    return factorFields(developers, asked, visit, {
      ...{ names: proofFields, refused, button: "Continue" },
    });
  }
  const wallets = await readWallets(db, accountId);
  const byWallet = wallets.length > 0 && walletButton("Sign with your wallet", developers, "proof");
  if (email === null) return html`${alert(error)}${byWallet}`;
  return html`<input class="unseen" type="email" value="${email}" autocomplete="username" readonly tabindex="-1" aria-label="Account">
${field({ name: proofFields.password, label: "Password", type: "password", autocomplete: "current-password", error, hasFocus: true })}
<button class="primary">Continue</button>
${byWallet}`;
}
