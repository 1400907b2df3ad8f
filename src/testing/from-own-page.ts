/**
 * What a browser says by itself when a page of the site asks, for a program that stands in for one:
 * `request.agent(app).set(fromOwnPage)`. Without it, what changes something is refused with `cross_site_request`.
 */
export const fromOwnPage = Object.freeze({ 'sec-fetch-site': 'same-origin' as const });
