import type { OpenApiDocument } from './document.js';
import type { DescribedSite } from './operation.js';

/** The description of a site, made when somebody first asks: nothing of what makes it is loaded before. */
export function describedOnce(site: DescribedSite): () => Promise<OpenApiDocument> {
  let document: Promise<OpenApiDocument> | undefined;
  return () => {
    document ??= import('./document.js').then(({ openApiDocument }) => openApiDocument(site));
    return document;
  };
}
