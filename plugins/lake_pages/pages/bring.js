// Airflow 3.0 keeps the token of its pages in the browser's storage: bring it once.
const stored = localStorage.getItem("token");
if (stored) {
  const token = stored.replace(/^"|"$/g, "");
  const root = document.currentScript.dataset.root;
  fetch(`${root}/session`, {method: "POST", headers: {Authorization: `Bearer ${token}`}})
    .then((reply) => reply.ok && location.reload());
}
