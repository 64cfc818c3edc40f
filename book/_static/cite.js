/* Copies an entry of BibTeX, and says so; where copying is refused, the entry is selected to be copied by hand. */
(() => {
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return document.execCommand("copy"); // what is selected; a page from disk may have no clipboard
    }
  };
  for (const box of document.querySelectorAll(".cite")) {
    const [entry, button, status] = ["pre", "button", "[role=status]"].map((it) => box.querySelector(it));
    button.hidden = false;
    button.addEventListener("click", async () => {
      getSelection().selectAllChildren(entry);
      status.textContent = (await copied(entry.textContent)) ? "Copied." : "Selected: copy it with Ctrl+C or ⌘C.";
    });
  }
})();
