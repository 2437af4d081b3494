import { changePassword } from "#api/accounts/choose-password.ts";
import { deleteAccount, exportAccount } from "#api/accounts/own-data.ts";
import {
  endSession,
  endSessions,
  readSessions,
  type StoredSession,
} from "#api/accounts/sessions.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, buttonForm, field, notice, timeTag } from "./form.ts";
import {
  type Developers,
  developerLayout,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";
import { secondFactorSection } from "./second-factor.ts";
import { passwordHint } from "./sign-up.ts";
import { walletSection } from "./wallet-section.ts";

type State = {
  readonly done?: string | undefined;
  readonly message?: string;
  readonly badCurrent?: string;
  readonly badPassword?: string;
  readonly badEmail?: string;
};

const done: ReadonlyMap<string, string> = new Map([
  ["password", "Your password is changed. Other sessions were ended."],
  ["session", "The session is ended."],
  ["sessions", "All other sessions are ended."],
  ["wallet", "The wallet is linked: it signs in to this account."],
  ["unlinked", "The wallet is unlinked."],
  ["second-factor-off", "The authenticator program is switched off."],
  ["passkey", "The passkey is added."],
  ["passkey-removed", "The passkey is removed."],
]);

export const showAccount: SignedInHandler = async (developers, visit, signedIn) => ({
  page: await showAccountWith(developers, signedIn, { done: done.get(visit.parameter("done")) }),
});

export const submitPassword: SignedInHandler = async (developers, visit, signedIn) => {
  const change = { current: visit.field("current"), password: visit.field("password") };
  const changed = await changePassword(
    developers.accounts,
    signedIn.session,
    change,
    visit.visitor,
  );
  if (!isRejection(changed)) {
    return { to: "/developers/account?done=password", sessionToken: changed.token };
  }
  return refusalReply(changed, await showAccountWith(developers, signedIn, stateOf(changed)));
};

function stateOf({ rejected, message }: { rejected: string; message: string }): State {
  if (rejected === "wrong_password") return { badCurrent: message };
  return rejected === "bad_password" ? { badPassword: message } : { message };
}

export const submitSessionEnd: SignedInHandler = async ({ accounts }, visit, { session }) => {
  const id = visit.key("id");
  if (/^\d{1,9}$/.test(id)) await endSession(accounts.db, session.accountId, Number(id));
  return { to: "/developers/account?done=session" };
};

export const submitOtherSessionsEnd: SignedInHandler = async (
  { accounts },
  _visit,
  { session },
) => {
  await endSessions(accounts.db, session.accountId, session.id);
  return { to: "/developers/account?done=sessions" };
};

export const submitSignOut: SignedInHandler = async ({ accounts }, _visit, { session }) => {
  await endSession(accounts.db, session.accountId, session.id);
  return { to: "/developers/sign-in?done=signed-out", sessionToken: null };
};

/** The account page, with messages at its forms. */
export async function showAccountWith(
  developers: Developers,
  signedIn: SignedIn,
  state: State,
): Promise<Html> {
  const { db, clock } = developers.accounts;
  const { session, formToken } = signedIn;
  const [sessions, wallets, secondFactor] = await Promise.all([
    readSessions(db, session.accountId, clock),
    walletSection(developers, signedIn),
    secondFactorSection(developers, signedIn),
  ]);
  const { done, message, badCurrent, badPassword, badEmail } = state;
  const body = html`<h1>Account</h1>
${notice(done)}${alert(message)}
<p>Signed in as <strong class="address">${session.name}</strong>.</p>
${session.email !== null && passwordSection(session.email, formToken, { badCurrent, badPassword })}
${wallets}
${secondFactor}
<section aria-labelledby="sessions">
<h2 id="sessions">Sessions</h2>
<p>Where this account is signed in. Times are UTC.</p>
<table class="list">
<thead><tr><th scope="col">Browser</th><th scope="col">Address</th><th scope="col">Signed in</th><th scope="col">Last seen</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
<tbody>
${sessions.map((one) => sessionRow(one, signedIn))}
</tbody>
</table>
${sessions.length > 1 && buttonForm("/developers/sessions/end-others", formToken, "End all others")}
</section>
${ownDataSection(signedIn, badEmail)}`;
  const isAnswer = Object.keys(state).some((key) => key !== "done");
  return developerLayout({
    title: "Account",
    body,
    signedIn,
    current: "account",
    isFormResult: isAnswer,
  });
}

type PasswordErrors = Record<"badCurrent" | "badPassword", string | undefined>;

const passwordSection = (
  email: string,
  formToken: string,
  { badCurrent, badPassword }: PasswordErrors,
): Html => html`<section aria-labelledby="password-title">
<h2 id="password-title">Password</h2>
<form class="card stack" method="post" action="/developers/account/password" novalidate>
<input type="hidden" name="form" value="${formToken}">
<input class="unseen" type="email" value="${email}" autocomplete="username" readonly tabindex="-1" aria-label="Account">
${field({ name: "current", label: "Current password", type: "password", autocomplete: "current-password", error: badCurrent })}
${field({ name: "password", label: "New password", type: "password", autocomplete: "new-password", hint: passwordHint, error: badPassword })}
<button class="primary">Change password</button>
<p class="hint">This ends all other sessions. Keys and tokens stay valid.</p>
</form>
</section>`;

function sessionRow(one: StoredSession, { session, formToken }: SignedIn): Html {
  const isThis = one.id === session.id;
  const name = agentName(one.agent);
  return html`<tr>
<th scope="row">${name}${isThis && html`<span class="mark">this session</span>`}</th>
<td data-label="Address">${one.address}</td>
<td data-label="Signed in">${timeTag(one.createdAt)}</td>
<td data-label="Last seen">${timeTag(one.seenAt)}</td>
<td class="actions">${!isThis && buttonForm(`/developers/sessions/${one.id}/end`, formToken, "End", { about: `the session of ${name}` })}</td>
</tr>`;
}

/** In this order: most browsers' user agents also contain the names of others. */
const browsers: readonly [sign: RegExp, name: string][] = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/(Firefox|FxiOS)\//, "Firefox"],
  [/(Chrom(e|ium)|CriOS|HeadlessChrome)\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const systems: readonly [sign: RegExp, name: string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** A short name for a user agent: browser and operating system. */
function agentName(agent: string): string {
  const find = (of: typeof browsers) => of.find(([sign]) => sign.test(agent))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser === undefined) return agent.slice(0, 40) || "Unknown";
  return system === undefined ? browser : `${browser} on ${system}`;
}

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

/** What an owner types to delete an account: e-mail addresses and wallets are kept in lower case. */
const isNameOf = ({ name }: SignedIn["session"], text: string) =>
  text.trim().toLowerCase() === name;

export const submitDeletion: SignedInHandler = async (developers, visit, signedIn) => {
  const { session } = signedIn;
  if (!isNameOf(session, visit.field("name"))) {
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
  return developerLayout({ title, body });
}

/** Forms for what is held of an account. */
const ownDataSection = ({ formToken, session }: SignedIn, badEmail: string | undefined): Html =>
  html`<section aria-labelledby="data">
<h2 id="data">Your data</h2>
<p>A JSON file with everything that is stored of this account, except secrets.</p>
${buttonForm("/developers/account/export", formToken, "Download", { about: "your data", downloads: true })}
<h3>Delete the account</h3>
<form class="card stack" method="post" action="/developers/account/delete" novalidate>
<input type="hidden" name="form" value="${formToken}">
${field({ name: "name", label: session.email === null ? "Wallet of this account" : "E-mail address of this account", type: session.email === null ? "text" : "email", autocomplete: "off", error: badEmail, hint: "Keys, tokens and sessions end at once. Nothing can be restored." })}
<button class="danger">Delete the account</button>
</form>
</section>`;
