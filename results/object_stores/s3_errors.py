"""What boto3's errors mean for a shared store. No message of theirs that may hold a key is passed on."""

from __future__ import annotations

from typing import Any

from benchbrief.results.object_stores.object_store import SharedStoreError, StoreAway, StoreFull, StoreRefuses

_CREDENTIALS = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in again; then repeat this"
_EXPIRED = ("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired", "InvalidToken")
_REFUSED = (
    "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AllAccessDisabled", "AuthorizationHeaderMalformed",
    "403", "401", "Forbidden", "Unauthorized",
)  # fmt: skip
_FULL = ("QuotaExceeded", "XMinioStorageFull", "InsufficientStorage", "XMinioAdminBucketQuotaExceeded", "507")
_BUSY = ("SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "Throttling", "500", "502", "503", "504")
_SKEWED = ("RequestTimeTooSkewed", "RequestInTheFuture")


def code_of(error: BaseException) -> str:
    """Return the code that the server gave, such as `NoSuchKey` or `404`; "" when it did not answer."""
    response: Any = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def status_of(error: BaseException) -> int:
    """Return the HTTP status of the answer; 0 without one."""
    response: Any = getattr(error, "response", None)
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) if isinstance(response, dict) else 0


def is_missing(error: BaseException) -> bool:
    return code_of(error) in ("NoSuchKey", "404", "NotFound")


def is_taken(error: BaseException) -> bool | None:
    """Return True when a conditional write found the key taken, False when another is under way, None for all other
    errors."""
    code, status = code_of(error), status_of(error)
    if code == "PreconditionFailed" or status == 412:
        return True
    return False if code in ("ConditionalRequestConflict", "OperationAborted") else None


def explain_error(error: Exception, url: str, bucket: str) -> SharedStoreError | None:
    """Return an error of boto3 in our words; None for any other error."""
    import botocore.exceptions as boto
    from boto3.exceptions import Boto3Error

    cause: Exception = error
    if isinstance(error, Boto3Error):  # of an upload in parts: what happened stands in its text and its context
        inner = error.__cause__ or error.__context__
        if isinstance(inner, Exception):
            cause = inner
    if isinstance(cause, boto.ClientError):
        return _answered(cause, url, bucket)
    match cause:
        case boto.NoCredentialsError() | boto.PartialCredentialsError():
            return StoreRefuses(f"there are no credentials for {url}", _CREDENTIALS)
        case boto.ProfileNotFound() | boto.ConfigParseError():
            return StoreRefuses(
                f"there are no credentials for {url}: {_one_line(str(cause))}", "check AWS_PROFILE and ~/.aws"
            )
        case boto.UnauthorizedSSOTokenError() | boto.SSOTokenLoadError() | boto.CredentialRetrievalError():
            return StoreRefuses(f"the credentials for {url} have expired or can't be had", _CREDENTIALS)
        case boto.ParamValidationError() | boto.InvalidRegionError():
            return SharedStoreError(f"{url} is no address of a bucket", "write s3://BUCKET/PREFIX")
        case boto.EndpointConnectionError() | boto.ConnectTimeoutError():
            return StoreAway(f"{url} can't be reached", "check the network and AWS_ENDPOINT_URL")
        case (
            boto.ReadTimeoutError() | boto.ConnectionClosedError() | boto.HTTPClientError() | boto.IncompleteReadError()
        ):
            return StoreAway(
                f"{url} did not answer in time, or broke off", "try again; slow stores: BENCHBRIEF_STORE_TIMEOUT"
            )
        case boto.BotoCoreError() | Boto3Error():
            return SharedStoreError(
                f"{url} can't be used: {type(cause).__name__}", "check the settings in the environment and ~/.aws"
            )
        case _:
            return None


def _answered(error: Any, url: str, bucket: str) -> SharedStoreError:
    code, status = code_of(error), status_of(error)
    if code in _EXPIRED:
        return StoreRefuses(
            f"the credentials for {url} have expired", "log in again, then repeat this: what is there is kept"
        )
    if code in _FULL or status == 507:
        return StoreFull(f"{url} is full", "free some space there (bench gc), then push again")
    if code in _SKEWED:
        return StoreRefuses(f"{url} says that this machine's clock is wrong", "set the clock, then repeat this")
    if code == "NoSuchBucket":
        return SharedStoreError(
            f"there is no bucket {bucket}", "make it first, or check the address and AWS_ENDPOINT_URL"
        )
    if code in _REFUSED or status in (401, 403):
        return StoreRefuses(
            f"{url} does not allow this with these credentials ({code})",
            "ask its owner for the right to read and write there",
        )
    if code in _BUSY or status >= 500:
        if status == 501 or code == "NotImplemented":
            what = f"{url} knows no conditional writes, without which two pushers may mix"
            return SharedStoreError(what, "use a server that has them: AWS S3, MinIO, Ceph and others do")
        return StoreAway(f"{url} is too busy or unwell ({code or status})", "try again later")
    return SharedStoreError(f"{url} refuses this: {_one_line(code)} (status {status})", "check its settings")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
