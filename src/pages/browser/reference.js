/** The REST reference: Swagger UI on the OpenAPI document. */
const openApi = await (await fetch('openapi.json')).json();

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.onchange = applyColorScheme;
applyColorScheme();

// @ts-expect-error: a global of the library's own script.
SwaggerUIBundle({
  // There is only this server, which a proxy may serve below a path of its own.
  spec: { ...openApi, servers: [{ url: new URL('.', location.href).pathname }] },
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
});
