// Keeps the page for times without a network. Scripts whose names hold a hash never change and come from the cache; all
// else is asked for first and taken from the cache when nobody answers. The build fills in the list and its version.
const VERSION = "tabiya-__VERSION__";
const FILES = __FILES__;

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(VERSION)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const clean = async () => {
    for (const name of await caches.keys())
      if (name.startsWith("tabiya-") && name !== VERSION) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(clean());
});

async function fromNetwork(request) {
  const cache = await caches.open(VERSION);
  try {
    const response = await fetch(request);
    if (response.ok && response.status === 200) await cache.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

async function fromCache(request) {
  const kept = await caches.match(request);
  return kept ?? fromNetwork(request);
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const path = url.pathname.slice(new URL(self.registration.scope).pathname.length);
  if (request.method !== "GET" || url.origin !== location.origin || path.startsWith("api/")) return;
  event.respondWith(path.startsWith("assets/") ? fromCache(request) : fromNetwork(request));
});
