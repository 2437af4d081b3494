/** Buttons that copy a text, or that of the element they name. */
export function offerCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source?.textContent ?? button.dataset.copy);
        button.textContent = "Copied";
      } catch {
        if (source !== null) getSelection().selectAllChildren(source);
        button.textContent = source === null ? "Not copied" : "Selected";
      }
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
  }
}
