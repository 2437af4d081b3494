import { type Html, html } from "#api/pages/kit/html.ts";
import { pageLink } from "#api/pages/kit/links.ts";

/** A way to the page that asks for a confirmation. */
export function actionLink(text: string, action: string, target = ""): Html {
  const label = `${text} ${target}`.trim();
  return html`<a class="button" href="${pageLink("/actions/new", { action, target })}" aria-label="${label}">${text}</a>`;
}
