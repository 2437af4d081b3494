import { readSecondFactor } from "#api/accounts/second-factor.ts";
import { isRecent, reauthenticate } from "#api/accounts/sign-in.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { codeField, field } from "./form.ts";
import {
  type Developers,
  type DeveloperVisit,
  developerLayout,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";

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
    if (given.password === "" && given.code === "") {
      return { page: await proofPage(developers, visit, signedIn, { downloads }), status: 401 };
    }
    const refused = await reauthenticate(accounts, session, given);
    if (refused === null) return await handle(developers, visit, signedIn);
    const page = await proofPage(developers, visit, signedIn, {
      downloads,
      error: refused.message,
    });
    return isRejection(refused) ? refusalReply(refused, page) : { page };
  };

async function proofPage(
  { accounts }: Developers,
  visit: DeveloperVisit,
  signedIn: SignedIn,
  { downloads, error }: { downloads: boolean; error?: string },
): Promise<Html> {
  const { formToken, session } = signedIn;
  const { isOn } = await readSecondFactor(accounts.db, session.accountId);
  const proofs: readonly string[] = Object.values(proofFields);
  const sent = [...visit.fields].filter(([name]) => name !== "form" && !proofs.includes(name));
  const title = "Confirm that it is you";
  const body = html`<h1>${title}</h1>
<p class="lead">The last proof is more than ${accounts.reauthenticationMinutes} minutes old.</p>
<form class="card stack" method="post" action="${visit.path}"${downloads && html` data-downloads`} novalidate>
<input type="hidden" name="form" value="${formToken}">
${sent.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<input class="unseen" type="email" value="${session.email}" autocomplete="username" readonly tabindex="-1" aria-label="Account">
${
  isOn
    ? codeField(proofFields.code, error)
    : field({
        name: proofFields.password,
        label: "Password",
        type: "password",
        autocomplete: "current-password",
        error,
        hasFocus: true,
      })
}
<button class="primary">Continue</button>
</form>
<p class="below"><a href="/developers">Cancel</a></p>`;
  return developerLayout({ title, body, signedIn });
}
