// What the bundle holds of undici. Its own entry also loads fetch, WebSocket, cookies and mocks, which nobody here asks for.
export { default as Client } from 'undici/lib/dispatcher/client.js'
export { default as Pool } from 'undici/lib/dispatcher/pool.js'
