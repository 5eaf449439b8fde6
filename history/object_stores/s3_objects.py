"""Objects in a bucket of S3, or of a server with the same protocol, accessed with boto3.

boto3 finds credentials, region and endpoint as the AWS command line does: in the environment (AWS_ACCESS_KEY_ID,
AWS_PROFILE, AWS_ENDPOINT_URL and so on), in ~/.aws, or from the machine's role.
"""

from __future__ import annotations

import base64
import hashlib
import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from pathlib import Path
from typing import Any

from benchbrief.history.object_stores.object_store import (
    HashedFile,
    ListedObject,
    NoObject,
    SharedStoreError,
    StoreAway,
    StoreFull,
    StoreRefuses,
    too_large,
)
from benchbrief.runners.plain_files import SMALL, open_plain

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
    """Return the error code from the server, such as `NoSuchKey` or `404`, or "" if the server did not answer."""
    response: Any = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def status_of(error: BaseException) -> int:
    """Return the HTTP status of the answer, or 0 if there was no answer."""
    response: Any = getattr(error, "response", None)
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) if isinstance(response, dict) else 0


def is_missing(error: BaseException) -> bool:
    return code_of(error) in ("NoSuchKey", "404", "NotFound")


def is_taken(error: BaseException) -> bool | None:
    """Return True if a conditional write failed because the key was taken, and False if it failed because another write
    is in progress. For all other errors, return None."""
    code, status = code_of(error), status_of(error)
    if code == "PreconditionFailed" or status == 412:
        return True
    return False if code in ("ConditionalRequestConflict", "OperationAborted") else None


def explain_error(error: Exception, url: str, bucket: str) -> SharedStoreError | None:
    """Convert an error of boto3 to an error of the store in plain words. Returns None for errors from elsewhere."""
    import botocore.exceptions as boto
    from boto3.exceptions import Boto3Error

    cause: Exception = error
    if isinstance(error, Boto3Error):  # an upload in parts: its text and its context say what happened
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


_PART = 16 << 20
"""The size of a part in bytes. Larger files are sent in parts of this size, several at once."""
_MOST_PARTS = 10_000
"""The most parts of one file that S3 accepts."""
_AT_ONCE = 8
_BLOCK = 1 << 20
_DELETED_AT_ONCE = 1000
"""The most keys that S3 deletes in one request."""
TIMEOUT = "BENCHBRIEF_STORE_TIMEOUT"
_TIMEOUT_S = 60.0
_TAKEN_AGAIN = 5
"""How often to retry a conditional write that collided with another one in progress (409)."""


class S3Objects:
    """An `ObjectStore` in a bucket, below a prefix. Several threads may use it at once."""

    def __init__(self, bucket: str, prefix: str) -> None:
        _require_boto3()
        self._bucket = bucket
        self._above = f"{prefix}/" if prefix else ""
        self.url = f"s3://{bucket}/{prefix}".rstrip("/")
        self._made: Any = None
        self._making = threading.Lock()

    def list(self, prefix: str) -> Iterator[ListedObject]:
        with self._explaining():
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._above + prefix):
                for each in page.get("Contents", ()):
                    key = each["Key"].removeprefix(self._above)
                    yield ListedObject(key, each["Size"], each["LastModified"].timestamp(), each.get("ETag", ""))

    def keys(self, prefix: str) -> Iterator[str]:
        yield from (each.key for each in self.list(prefix))

    def look(self, key: str) -> ListedObject | None:
        with self._explaining():
            try:
                found = self._client.head_object(**self._at(key))
            except Exception as error:
                if is_missing(error):
                    return None
                raise
        return ListedObject(key, found["ContentLength"], found["LastModified"].timestamp(), found.get("ETag", ""))

    def read(self, key: str, most: int = SMALL) -> bytes:
        with self._explaining(), self._open(key) as body:
            return b"".join(self._blocks(key, body, most))

    def download(self, key: str, path: Path, most: int) -> str:
        digest = hashlib.sha256()
        with path.open("xb") as target, self._explaining(), self._open(key) as body:
            for block in self._blocks(key, body, most):
                digest.update(block)
                target.write(block)
        return digest.hexdigest()

    def _blocks(self, key: str, body: Any, most: int) -> Iterator[bytes]:
        left = most
        for block in body.iter_chunks(_BLOCK):
            left -= len(block)
            if left < 0:
                raise too_large(f"{self.url}/{key}", most)
            yield block

    def create(self, key: str, content: bytes) -> bool:
        with self._explaining():
            for waited in range(_TAKEN_AGAIN):
                try:
                    self._client.put_object(
                        **self._at(key), Body=content, IfNoneMatch="*", **_sum(hashlib.sha256(content).digest())
                    )
                except Exception as error:
                    taken = is_taken(error)
                    if taken is None:
                        raise
                    if taken:
                        return False
                else:
                    return True
                time.sleep(0.2 * 2**waited)  # another write of the key is in progress
        raise SharedStoreError(f"{self.url}/{key} is being written by others again and again", "push again later")

    def upload(self, key: str, file: HashedFile) -> None:
        if file.size > _PART:
            self._upload_parts(key, file)
            return
        with open_plain(file.path) as source:
            content = source.read(_PART + 1)
        file.require_unchanged()
        with self._explaining():
            self._client.put_object(**self._at(key), Body=content, **_sum(bytes.fromhex(file.sha256)))

    def _upload_parts(self, key: str, file: HashedFile) -> None:
        """Send a large file in parts. The object appears only if the file is still unchanged after the last part."""
        from s3transfer.utils import ReadFileChunk

        at, path = self._at(key), str(file.path)
        size = max(_PART, -(-file.size // _MOST_PARTS))
        with self._explaining():
            upload = {**at, "UploadId": self._client.create_multipart_upload(**at)["UploadId"]}

        def send(number: int) -> dict[str, Any]:
            with ReadFileChunk.from_filename(path, (number - 1) * size, size) as body:
                sent = self._client.upload_part(**upload, PartNumber=number, Body=body)
            return {"PartNumber": number, "ETag": sent["ETag"]}

        pool = ThreadPoolExecutor(_AT_ONCE)
        try:
            with self._explaining():
                parts = list(pool.map(send, range(1, -(-file.size // size) + 1)))
            file.require_unchanged()
            with self._explaining():
                self._client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
        except BaseException:
            pool.shutdown(cancel_futures=True)
            with suppress(Exception):  # the error of the upload counts; the bucket's own rule removes the parts
                self._client.abort_multipart_upload(**upload)
            raise
        pool.shutdown()
        there = self.look(key)
        if there is None or there.size != file.size:
            found = "nothing" if there is None else f"{there.size:,} bytes"
            raise SharedStoreError(f"{self.url}/{key} has {found} after {file.size:,} bytes were sent", "push again")

    def delete(self, keys: Iterable[str]) -> None:
        left = iter(keys)
        while some := tuple(islice(left, _DELETED_AT_ONCE)):
            with self._explaining():
                named = {"Objects": [{"Key": self._above + key} for key in some], "Quiet": True}
                failed = self._client.delete_objects(Bucket=self._bucket, Delete=named).get("Errors", ())
            for each in failed:
                what = f"{self.url} does not remove {each.get('Key')}: {each.get('Message') or each.get('Code')}"
                raise SharedStoreError(what, "check what the credentials allow")

    def now(self) -> float:
        with self._explaining():
            found = self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._above, MaxKeys=1)
        date = found["ResponseMetadata"]["HTTPHeaders"].get("date")
        return parsedate_to_datetime(date).timestamp() if date else datetime.now(UTC).timestamp()

    def _at(self, key: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._above + key}

    @contextmanager
    def _open(self, key: str) -> Iterator[Any]:
        try:
            body = self._client.get_object(**self._at(key))["Body"]
        except Exception as error:
            if not is_missing(error):
                raise
            hint = f"look at what it has: bench runs --from {self.url}"
            raise NoObject(f"{self.url} has no {key}", hint) from error
        with body:
            yield body

    @property
    def _client(self) -> Any:
        with self._making:
            if self._made is None:
                self._made = _new_client()
            return self._made

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Raise each error of boto3 inside the block as an error of the store. Other errors are not changed."""
        try:
            yield
        except Exception as error:
            found = explain_error(error, self.url, self._bucket)
            if found is None:
                raise
            raise found from error


def _new_client() -> Any:
    import boto3
    from botocore.config import Config

    timeout_s = _timeout_s()
    how = Config(
        connect_timeout=min(10.0, timeout_s),
        read_timeout=timeout_s,
        retries={"mode": "standard"},
        max_pool_connections=32,
        # Servers other than AWS's often refuse the checksums that boto3 adds by default. We send a SHA-256 of our own.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    session = boto3.session.Session()
    region = session.region_name or "us-east-1"
    return session.client("s3", config=how, region_name=region)


def _timeout_s() -> float:
    text = os.environ.get(TIMEOUT, "")
    try:
        return max(0.1, float(text)) if text else _TIMEOUT_S
    except ValueError as error:
        raise SharedStoreError(
            f"{TIMEOUT} is {text!r}, which is no number of seconds", "unset it, or say 60"
        ) from error


def _require_boto3() -> None:
    try:
        import boto3  # noqa: F401 - whether it is there
    except ImportError as error:
        what = "a store on S3 needs boto3, which is not installed"
        raise SharedStoreError(what, "install it: pip install 'benchbrief[s3]'") from error


def _sum(digest: bytes) -> dict[str, str]:
    """Return a checksum of data, which lets the server refuse data that were damaged in transit."""
    return {"ChecksumSHA256": base64.b64encode(digest).decode()}
