// Runs before anything is drawn, so that no theme flashes: the chosen one, else the system's, which may change meanwhile.
const system = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* a browser that keeps nothing follows the system */ }
  if (chosen !== "dark" && chosen !== "light") chosen = system.matches ? "dark" : "light";
  document.documentElement.dataset.theme = chosen;
}

showTheme();
system.addEventListener("change", showTheme);
