/**
 * A certificate for `localhost`, signed by itself, and its key: valid until 2120, trusted by nobody but a test that says
 * so, and of no use elsewhere.
 */
export const localhostCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqeqLwA/EE0nZ7lCg
dff/3hFf8ZBEbMKFhDGI5IPbOU+hRANCAAS3XIo3MWcfFHFJnm80zqvUpsY3rH9m
e8DbHFP98zN9KCF15U4elhIVXrd4RxhEX2Xv2tt9F7CGJNLGE5cBIG8J
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBYDCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLdcijcxZx8UcUme
bzTOq9Smxjesf2Z7wNscU/3zM30oIXXlTh6WEhVet3hHGERfZe/a230XsIYk0sYT
lwEgbwmjSDBGMA8GA1UdEwEB/wQFMAMBAf8wFAYDVR0RBA0wC4IJbG9jYWxob3N0
MB0GA1UdDgQWBBTrsrLViLsqlxbZjg/mrA1HrmT61jAKBggqhkjOPQQDAgNHADBE
AiBl9Sk9DSIOBO/bLgo8b0szcGzpd5yK7PNkG2eSQcX3ugIgWo1kCORmUs4DqQO0
QDXGnVfj9VmCV459GfZk4+0S2Ko=
-----END CERTIFICATE-----
`,
};
